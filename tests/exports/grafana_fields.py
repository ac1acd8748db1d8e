"""The fields of a dashboard that Grafana documents, and where.

- Dashboard, panel, field config, variable: `kinds/dashboard/dashboard_kind.cue` in Grafana's repository, and "Dashboard
  JSON model" (https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/).
- Options and custom fields of panels: `public/app/plugins/panel/{barchart,table,timeseries}/panelcfg.cue` and
  `packages/grafana-schema/src/common/*.cue`.
- Targets: `SQLQuery` in `packages/grafana-sql/src/types.ts`, on top of `DataQuery`.
- Further fields of variables (`definition`, `refresh`, `sort`, `multi`, `includeAll`, `current`, `options`): the models
  in `packages/grafana-data/src/types/templateVars.ts`.
"""

from __future__ import annotations

DASHBOARD = {
    *("id", "uid", "title", "description", "tags", "timezone", "editable", "graphTooltip", "time", "timepicker"),
    *("fiscalYearStartMonth", "liveNow", "weekStart", "refresh", "schemaVersion", "version", "panels", "templating"),
    *("annotations", "links", "snapshot", "gnetId", "revision", "style"),
}
PANEL = {
    *("type", "id", "pluginVersion", "tags", "targets", "title", "description", "transparent", "datasource", "gridPos"),
    *("links", "repeat", "repeatDirection", "repeatPanelId", "maxDataPoints", "transformations", "interval"),
    *("timeFrom", "timeShift", "libraryPanel", "options", "fieldConfig"),
}
GRID = {"h", "w", "x", "y", "static"}
FIELD = {
    *("displayName", "displayNameFromDS", "description", "path", "writeable", "filterable", "unit", "decimals", "min"),
    *("max", "mappings", "thresholds", "color", "links", "noValue", "custom"),
}
_LINE = {"lineColor", "lineWidth", "lineInterpolation", "lineStyle", "spanNulls"}
_FILL = {"fillColor", "fillOpacity", "fillBelowTo"}
_POINTS = {"showPoints", "pointSize", "pointColor", "pointSymbol"}
_AXIS = {
    *("axisPlacement", "axisColorMode", "axisLabel", "axisWidth", "axisSoftMin", "axisSoftMax", "axisGridShow"),
    *("scaleDistribution", "axisCenteredZero"),
}
CUSTOM = {
    "timeseries": {
        *(*_LINE, *_FILL, *_POINTS, *_AXIS, "barAlignment", "barWidthFactor", "barMaxWidth", "stacking", "hideFrom"),
        *("drawStyle", "gradientMode", "thresholdsStyle", "transform"),
    },
    "barchart": {*_AXIS, "hideFrom", "lineWidth", "fillOpacity", "gradientMode", "thresholdsStyle"},
    "table": {
        "width",
        "minWidth",
        "align",
        "displayMode",
        "cellOptions",
        "hidden",
        "inspect",
        "filterable",
        "hideHeader",
    },
}
OPTIONS = {
    "timeseries": {"legend", "tooltip", "timezone", "orientation"},
    "barchart": {
        *("legend", "tooltip", "text", "xField", "colorByField", "orientation", "barRadius", "xTickLabelRotation"),
        *(
            "xTickLabelMaxLength",
            "xTickLabelSpacing",
            "stacking",
            "showValue",
            "barWidth",
            "groupWidth",
            "fullHighlight",
        ),
    },
    "table": {"frameIndex", "showHeader", "showRowNumbers", "showTypeIcons", "sortBy", "footer", "cellHeight"},
}
LEGEND = {*("displayMode", "placement", "showLegend", "asTable", "isVisible", "sortBy", "sortDesc", "width", "calcs")}
TOOLTIP = {"mode", "sort"}
TARGET = {
    *("refId", "hide", "key", "queryType", "datasource"),
    *("alias", "format", "rawSql", "dataset", "table", "sql", "editorMode", "rawQuery"),
}
FORMATS = {"time_series", "table"}
VARIABLE = {
    *("id", "type", "name", "label", "rootStateKey", "global", "hide", "skipUrlSync", "index", "state", "error"),
    *("description", "query", "datasource", "definition", "refresh", "sort", "multi", "includeAll", "allValue"),
    *("current", "options", "regex"),
}
VARIABLE_TYPES = {"query", "adhoc", "constant", "datasource", "interval", "textbox", "custom", "system"}
MATCHERS = {"byName", "byRegexp", "byType", "byFrameRefID", "byValue"}
MAPPING_RESULT = {"text", "color", "icon", "index"}
