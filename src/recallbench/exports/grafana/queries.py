"""The SQL of the dashboard, one file each in `sql/`, with Grafana's macros and variables in it."""

from __future__ import annotations

from importlib import resources


def query(name: str) -> str:
    """Return a query by its name."""
    file = resources.files("recallbench.exports.grafana").joinpath("sql", f"{name}.sql")
    return file.read_text(encoding="utf-8").rstrip("\n")
