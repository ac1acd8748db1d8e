"""The targets of exports by name; each is imported when it is looked up."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from recallbench.exports.export_target import ExportTarget

TARGETS: Mapping[str, str] = {
    "prometheus": "prometheus.PrometheusTarget",
    "postgres": "postgres.PostgresTarget",
    "grafana": "grafana.target.GrafanaTarget",
    "parquet": "parquet.ParquetTarget",
    "hub": "hub.HubTarget",
}
"""The place of each class below this package."""


def find_target(name: str) -> ExportTarget:
    """Return the target of that name; raises KeyError for another."""
    module, _, kind = TARGETS[name].rpartition(".")
    target: ExportTarget = getattr(import_module(f"recallbench.exports.{module}"), kind)()
    return target
