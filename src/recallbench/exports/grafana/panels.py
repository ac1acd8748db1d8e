"""The panels of the dashboard: what each asks, and how it is drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Visual = Literal["timeseries", "barchart", "table"]


@dataclass(frozen=True, slots=True)
class DashboardPanel:
    """A panel: a query, and how it is drawn."""

    title: str
    query: str
    """The name of its SQL file."""
    visual: Visual
    width: int
    height: int
    description: str = ""
    unit: str = ""
    """How Grafana writes its values, such as ms."""
    ends: str = ""
    """A pattern of the fields that are ends of an interval, drawn as thin broken lines."""
    logarithmic: bool = False
    states: dict[str, str] = field(default_factory=dict)
    """Colours by the words of a table's cells."""


PANELS: tuple[DashboardPanel, ...] = (
    DashboardPanel(
        "$measure over time, with its 95% interval",
        "measure_over_time",
        "timeseries",
        12,
        9,
        "All questions of each result. Runs of the same system are one line, whatever its version.",
        ends="^(low|high)",
    ),
    DashboardPanel(
        "$measure by version, with its 95% interval",
        "measure_by_version",
        "barchart",
        12,
        9,
        "The newest result of each version in the time range, beside what a random order would reach.",
    ),
    DashboardPanel(
        "p95 of single warm queries over time",
        "p95_over_time",
        "timeseries",
        12,
        8,
        "End to end, asked one at a time, nearest rank. Times of other machines are not comparable.",
        unit="ms",
        ends="^(p95 low|p95 high)",
    ),
    DashboardPanel(
        "Cost of 1,000 queries over time",
        "cost_over_time",
        "timeseries",
        12,
        8,
        'Without ingest and index, at the prices that stood in the export. A line that ends in "at least" lacks the '
        "price of a part.",
    ),
    DashboardPanel(
        "The newest result of each system: $measure",
        "latest_results",
        "table",
        24,
        9,
        "Verdicts are as the results record them; recallbench audit decides anew.",
    ),
    DashboardPanel(
        "Gate: $measure at least $at_least",
        "gate_by_measure",
        "table",
        24,
        9,
        "The newest result of each system against the floor that stands above, for the chosen measure alone. The value "
        "decides, as in recallbench gate. Where a random order reaches the floor too, holding it says nothing.",
        states={
            "falls short": "red",
            "holds": "green",
            "holds, but its interval does not": "yellow",
            "holds, but so does chance": "orange",
        },
    ),
    DashboardPanel(
        "$measure of the newest results by kind and tenant",
        "latest_by_kind",
        "barchart",
        12,
        9,
        "Beside chance and BM25.",
    ),
    DashboardPanel(
        "Gates of the protocol, as recorded",
        "gates_as_recorded",
        "table",
        12,
        9,
        "Of the newest result of each system, those that do not hold first.",
        states={"fail": "red", "cannot-tell": "orange", "pending": "yellow", "pass": "green"},
    ),
    DashboardPanel(
        "Latency under load: the last study",
        "latency_under_load",
        "barchart",
        12,
        9,
        "From the moment a question was to start. Void levels are left out.",
        unit="ms",
        logarithmic=True,
    ),
    DashboardPanel(
        "Levels of load", "load_levels", "table", 12, 9, "Every level, void ones too, with the recall of its answers."
    ),
    DashboardPanel(
        "The last sweep's points",
        "last_sweep_points",
        "table",
        24,
        9,
        "The chosen point first. What was seen best on the questions that the choice was made by flatters itself: held "
        "out is the honest figure.",
        states={"chosen": "green"},
    ),
)
