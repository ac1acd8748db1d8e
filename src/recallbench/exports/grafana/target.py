"""`export grafana`: the dashboard over the history tables."""

from __future__ import annotations

from typing import ClassVar

from recallbench.escaping.document import json_text
from recallbench.exports.export_target import Exported, ExportRequest, ExportTarget
from recallbench.exports.grafana.dashboard import dashboard
from recallbench.exports.grafana.panels import PANELS
from recallbench.exports.history.migrations import SCHEMA
from recallbench.reports.printing.conclusion import Conclusion


class GrafanaTarget(ExportTarget):
    """The JSON of the dashboard, to be imported into Grafana or provisioned."""

    name: ClassVar[str] = "grafana"
    summary: ClassVar[str] = "Print a Grafana dashboard over the history tables, as JSON to import or provision."
    details: ClassVar[str] = (
        f"Its queries read the schema {SCHEMA}, which `recallbench export postgres` fills, through a PostgreSQL data "
        "source that is chosen at its top."
    )
    example: ClassVar[str] = "recallbench export grafana > dashboard.json"
    reads_folders: ClassVar[bool] = False

    def export(self, request: ExportRequest) -> Exported:
        return Exported(
            Conclusion(
                f"A dashboard of {len(PANELS)} panels",
                "it reads the tables that `recallbench export postgres` fills",
                "in Grafana, Dashboards > New > Import, with the PostgreSQL data source of that database",
            ),
            document=json_text(dashboard(), 1) + "\n",
        )
