"""The dashboard as Grafana's classic JSON model has it: variables, and panels in rows of 24 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from recallbench.exports.grafana.panels import PANELS, DashboardPanel
from recallbench.exports.grafana.queries import query

UID = "recallbench-history"
TITLE = "RecallBench: recall, latency and cost over time"
PLUGIN = "grafana-postgresql-datasource"
"""The data source that comes with Grafana."""
SOURCE = {"type": PLUGIN, "uid": "${datasource}"}
SCHEMA = 39
"""The form of the JSON: Grafana 10.3 and later read it, and bring it up to date themselves."""
COLUMNS = 24


def dashboard() -> dict[str, Any]:
    """Return the whole dashboard, to be imported or provisioned."""
    return {
        "id": None,
        "uid": UID,
        "title": TITLE,
        "description": "Results in the history tables that `recallbench export postgres` fills.",
        "tags": ["recallbench"],
        "timezone": "browser",
        "editable": True,
        "graphTooltip": 1,
        "time": {"from": "now-90d", "to": "now"},
        "refresh": "",
        "schemaVersion": SCHEMA,
        "version": 1,
        "links": [],
        "annotations": {"list": []},
        "templating": {"list": list(_variables())},
        "panels": list(_panels(PANELS)),
    }


def _variables() -> Iterator[dict[str, Any]]:
    yield {"name": "datasource", "label": "History", "type": "datasource", "query": PLUGIN, "hide": 0}
    yield _from_query("corpus", "Corpus", several=True)
    yield _from_query("store", "Store", several=True)
    yield _from_query("measure", "Measure", several=False)
    value = {"text": "0.8", "value": "0.8"}
    yield {
        "name": "at_least",
        "label": "Gate: at least",
        "type": "textbox",
        "query": "0.8",
        "current": value,
        "options": [value],
        "hide": 0,
    }


def _from_query(name: str, label: str, *, several: bool) -> dict[str, Any]:
    every = {"text": ["All"], "value": ["$__all"]}
    sql = query(f"variable_{name}")
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": SOURCE,
        "query": sql,
        "definition": sql,
        "refresh": 1,
        "sort": 0,
        "multi": several,
        "includeAll": several,
        "current": every if several else {"text": "recall_any@10", "value": "recall_any@10"},
        "hide": 0,
    }


def _panels(panels: Sequence[DashboardPanel]) -> Iterator[dict[str, Any]]:
    """Yield the panels, laid from left to right in rows."""
    x = y = height = 0
    for number, panel in enumerate(panels, 1):
        if x + panel.width > COLUMNS:
            x, y, height = 0, y + height, 0
        yield _panel(number, panel, x, y)
        x, height = x + panel.width, max(height, panel.height)


def _panel(number: int, panel: DashboardPanel, x: int, y: int) -> dict[str, Any]:
    return {
        "id": number,
        "type": panel.visual,
        "title": panel.title,
        "description": panel.description,
        "datasource": SOURCE,
        "gridPos": {"h": panel.height, "w": panel.width, "x": x, "y": y},
        "fieldConfig": {"defaults": _defaults(panel), "overrides": list(_overrides(panel))},
        "options": _options(panel),
        "targets": [
            {
                "refId": "A",
                "datasource": SOURCE,
                "format": "time_series" if panel.visual == "timeseries" else "table",
                "rawQuery": True,
                "editorMode": "code",
                "rawSql": query(panel.query),
            }
        ],
    }


def _defaults(panel: DashboardPanel) -> dict[str, Any]:
    defaults: dict[str, Any] = {"unit": panel.unit} if panel.unit else {}
    if panel.visual == "timeseries":
        custom: dict[str, Any] = {"drawStyle": "line", "lineWidth": 2, "showPoints": "always", "pointSize": 6}
        # A night without a run is no drop to nothing.
        defaults["custom"] = custom | {"spanNulls": True, "fillOpacity": 0}
    elif panel.visual == "barchart":
        scale = {"type": "log", "log": 10} if panel.logarithmic else {"type": "linear"}
        defaults["custom"] = {"lineWidth": 1, "fillOpacity": 80, "scaleDistribution": scale}
    if panel.visual != "timeseries" or not panel.unit:
        defaults["decimals"] = 4
    return defaults


def _overrides(panel: DashboardPanel) -> Iterator[dict[str, Any]]:
    if panel.ends:
        yield {
            "matcher": {"id": "byRegexp", "options": f"/{panel.ends}/"},
            "properties": [
                {"id": "custom.lineWidth", "value": 1},
                {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [4, 6]}},
                {"id": "custom.showPoints", "value": "never"},
            ],
        }
    if panel.visual == "table":
        for name in ("n", "clients"):
            yield {"matcher": {"id": "byName", "options": name}, "properties": [{"id": "decimals", "value": 0}]}
        if panel.states:
            mapping = {
                word: {"color": color, "index": index} for index, (word, color) in enumerate(panel.states.items())
            }
            yield {
                "matcher": {"id": "byRegexp", "options": "/^(gate|status|choice)$/"},
                "properties": [
                    {"id": "mappings", "value": [{"type": "value", "options": mapping}]},
                    {"id": "custom.cellOptions", "value": {"type": "color-text"}},
                ],
            }


def _options(panel: DashboardPanel) -> dict[str, Any]:
    if panel.visual == "table":
        return {"showHeader": True}
    legend = {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []}
    drawn: dict[str, Any] = {"legend": legend, "tooltip": {"mode": "multi", "sort": "none"}}
    if panel.visual == "barchart":
        drawn |= {
            "orientation": "horizontal",
            "showValue": "auto",
            "stacking": "none",
            "groupWidth": 0.7,
            "barWidth": 0.97,
        }
    return drawn
