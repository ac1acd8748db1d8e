"""The document of `drift --json`, and its lines and tables."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.escaping.markdown import inline, opening
from recallbench.reports.cells import figure, interval
from recallbench.reports.comparison import (
    LEVEL,
    ConditionPart,
    MeasuredPart,
    p_text,
    signed,
    signed_range,
    why_no_interval,
)
from recallbench.reports.part import DocumentPart
from recallbench.reports.table import Table
from recallbench.results.metrics import EstimatePart

Direction = Literal["falling", "rising", "none shown", "too few"]


class NightPart(DocumentPart):
    folder: str
    made: str = Field(description="when its run started, ISO 8601")
    version: str = Field(description="of the store, as it stated itself")
    content_sha256: str
    estimate: EstimatePart


class LeftOutPart(DocumentPart):
    folder: str
    reason: str


class TrendPart(DocumentPart):
    direction: Direction
    n: int
    rises: int = Field(description="pairs of results of which the later is higher")
    falls: int
    p: float | None = Field(description="two-sided; null where there are too few results")
    method: str
    slope_per_day: float | None = Field(description="Theil and Sen's median slope; null where all lie within a day")
    slope_per_result: float | None = Field(
        description="the same from one result to the next, where all lie within a day"
    )


class Drift(DocumentPart):
    """One measure over comparable results, earliest first."""

    schema_version: Literal["1"]
    recallbench_version: str
    measure: str
    corpus: str
    system: str
    nights: list[NightPart]
    left_out: list[LeftOutPart]
    trend: TrendPart
    last_against_first: MeasuredPart | None = Field(description="paired by question; null with a single result")
    notes: list[str] = Field(description="what is odd about a folder, as for compare")
    fell: bool = Field(description="the measure falls over time, or the last is proven to be below the first")
    conditions: list[ConditionPart] = Field(
        default=[],
        # Without rules the document has the bytes it had before there were any.
        exclude_if=lambda conditions: not conditions,
        description="the rules that the last result is held to, beside the first",
    )


def title(drift: Drift) -> str:
    """Return measure, system, corpus and number of results in a line."""
    results = "1 result" if len(drift.nights) == 1 else f"{len(drift.nights)} results"
    return f"{drift.measure} of {drift.system} on {plain_names(drift.corpus)}, {results}"


def result_table(drift: Drift) -> Table:
    """Return a row for each result."""
    rows = [
        (
            night.made[:16].replace("T", " "),
            figure(night.estimate.value),
            interval(night.estimate),
            str(night.estimate.n),
            night.version,
            night.folder,
        )
        for night in drift.nights
    ]
    columns = ("made", "value", "95% interval", "n", "version", "folder")
    return Table(columns, rows, caption="Results, earliest first")


def left_out(drift: Drift) -> list[str]:
    """Return a line for each result that can't be compared, and for each note on the others."""
    return [f"left out: {result.folder}: {result.reason}" for result in drift.left_out] + [
        f"note: {note}" for note in drift.notes
    ]


def findings(drift: Drift) -> list[str]:
    """Return the trend, the comparison of the last result with the first, and what the rules say of it."""
    trend, pair = drift.trend, drift.last_against_first
    line = f"trend: {trend.direction}"
    if trend.p is not None:
        line += f" (p {p_text(trend.p)}; {trend.rises} pairs rise, {trend.falls} fall; {trend.method}"
        line += f"; {pace(trend)})" if pace(trend) else ")"
    else:
        line += f": {trend.method}"
    lines = [line]
    if pair is not None:
        lines.append(
            f"last against first: {signed(pair.difference)} ({signed_range(pair.low, pair.high)}), p {p_text(pair.p)}, "
            f"win/tie/loss {pair.wins}/{pair.ties}/{pair.losses}, {_compared(pair)}"
        )
    return lines + [condition.text for condition in drift.conditions]


def pace(trend: TrendPart) -> str:
    """Return the slope, a day or a result; empty where there is none."""
    for slope, unit in ((trend.slope_per_day, "day"), (trend.slope_per_result, "result")):
        if slope is not None:
            return f"{signed(slope)} a {unit}"
    return ""


def _compared(pair: MeasuredPart) -> str:
    """Return whether the last result is proven higher or lower: by the test and the interval, where there is one."""
    way = "lower" if pair.difference < 0 else "higher"
    if pair.difference and pair.p <= LEVEL and (pair.excludes_0 or pair.low is None):
        return f"proven {way}"
    if pair.low is None and pair.difference:
        return f"no difference can be shown: {why_no_interval(pair.method)}"
    return f"{way} by its interval, though p is above {LEVEL}" if pair.excludes_0 else "no difference shown"


def reading(drift: Drift) -> list[str]:
    """Return sentences on how to read the trend."""
    return [
        f"A trend is flagged at p of {LEVEL} or less. The test takes the results as independent but for a trend: one "
        "change that stays may look like one, and a single step may not.",
        "The last result is compared with the first question by question, which finds a step too.",
        "The interval of each value tells of other questions that might have been asked, not of other nights.",
    ]


def markdown(drift: Drift) -> str:
    """Return Markdown for a job's summary."""
    failed = drift.fell or any(condition.outcome == "fails" for condition in drift.conditions)
    told = (f"- {opening(line)}" for line in (*findings(drift), *left_out(drift)))
    lines = [f"### {'❌' if failed else '✅'} {inline(title(drift))}", "", *told, ""]
    return "\n".join([*lines, *result_table(drift).markdown(), "", *map(opening, reading(drift))]) + "\n"
