"""The SQL of the reference store, one file each in `sql/`."""

from __future__ import annotations

from importlib import resources


def sql(name: str) -> str:
    """Return a statement, or the statements of a file, by its name."""
    return resources.files("recallbench.stores.pgvector").joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")
