"""A log scored against the labels of a sample of it: the document, and the tables."""

from __future__ import annotations

from pydantic import Field

from recallbench.escaping.markdown import inline, opening
from recallbench.reports.cells import figure, share
from recallbench.reports.part import DocumentPart
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.table import Table
from recallbench.scoring.quantiles import NEAREST_RANK


class MeanPart(DocumentPart):
    measure: str
    value: float | None
    low: float | None = Field(description="lower end of the 95% interval")
    high: float | None
    method: str


class LatencyPart(DocumentPart):
    recalls: int = Field(description="recalls whose line says how long they took")
    p50_ms: float | None
    p95_ms: float | None
    percentiles: str = Field(description="nearest-rank; index, sorted[int(.95 n)]; or linear, between two times")


class SlicePart(DocumentPart):
    name: str
    recalls: int = Field(description="all that were logged")
    labelled_recalls: int
    labelled_queries: int
    answerable_queries: int = Field(description="labelled, and with something to find")
    nothing_to_find: int = Field(description="labelled recalls of queries that should find nothing")
    found_anyway: int = Field(description="of these, how many returned something")
    measures: list[MeanPart]
    latency: LatencyPart


class LogThresholdPart(DocumentPart):
    threshold: float | None = Field(description="of token F1; null for exact matches alone")
    value: float | None = Field(description="what the measure would have been")
    random: float | None = Field(description="share of random texts, not of the query's recalls, that match")


class MatchedPart(DocumentPart):
    """Labelled recalls with something to find, by how their texts matched."""

    by_id: int = Field(description="recalls whose label has ids, which decide where a set mixes both; of no text below")
    exact: int = Field(description="recalls whose first match in the top k is exact")
    fuzzy: int
    without: int = Field(description="recalls without a match in the top k")
    measure: str
    random_pairs: int
    sensitivity: list[LogThresholdPart]


class LogScores(DocumentPart):
    """Estimates of all recalls of a log."""

    schema_version: str
    recallbench_version: str
    files: list[str]
    labels: str
    by: str
    bad_lines: int
    unlabelled: int = Field(description="queries of the labels file that nobody has labelled yet")
    not_logged: int = Field(description="labelled queries that the log does not have")
    matching: str = Field(description="what made a hit relevant; numbers of two methods are not to be compared")
    matched: MatchedPart | None = Field(description="null where ids decide")
    without_texts: int = Field(description="recalls of labelled queries that could not be matched by text")
    overall: SlicePart
    strata: list[SlicePart]
    notes: list[str]


def table(scores: LogScores) -> Table:
    """Return a row for each stratum, then one for the whole log."""
    rule = scores.overall.latency.percentiles
    times = [f"{name}{'' if rule == NEAREST_RANK else f' ({rule})'}" for name in ("p50", "p95")]
    measures = [measure.measure for measure in scores.overall.measures]
    columns = (scores.by, "recalls", "judged", "queries", *measures, *times)
    return Table(columns, [_row(part) for part in (*scores.strata, scores.overall)])


def intervals(scores: LogScores) -> list[str]:
    """Return the estimates of the whole log with their intervals, a line each."""
    return [
        f"{measure.measure} {figure(measure.value)}, "
        + (
            f"95% {measure.low:.4f} to {measure.high:.4f}"
            if measure.low is not None and measure.high is not None
            else "no interval"
        )
        + f" ({measure.method})"
        for measure in scores.overall.measures
    ]


def matched(scores: LogScores) -> list[str]:
    """Return how hits were matched; where by text, also the figure at other thresholds."""
    part = scores.matched
    if part is None:
        return [f"matched by {scores.matching}"]
    at = [
        f"{'exact' if point.threshold is None else format(point.threshold, 'g')} {figure(point.value)}"
        + ("" if point.random is None else f" (random texts {share(point.random)})")
        for point in part.sensitivity
    ]
    by_id = f"; {part.by_id} decided by id" if part.by_id else ""
    return [
        f"matched by {scores.matching}: judged recalls exact {part.exact}, fuzzy {part.fuzzy}, without {part.without}"
        + by_id,
        f"{part.measure} by threshold: {', '.join(at)}; {part.random_pairs} random pairs",
    ]


def abstention(scores: LogScores) -> list[str]:
    """Return how often a recall returned something where there was nothing to find."""
    overall = scores.overall
    if not overall.nothing_to_find:
        return []
    part = share(overall.found_anyway / overall.nothing_to_find)
    return [f"nothing to find: {overall.nothing_to_find} judged recalls, {part} of which returned something"]


def remarks(scores: LogScores) -> list[str]:
    """Return what stands below the table."""
    return [*matched(scores), *intervals(scores), *abstention(scores), *scores.notes]


def conclusion(scores: LogScores) -> Conclusion:
    """Return the first figure of the whole log, and how far it can be believed."""
    first, overall = scores.overall.measures[0], scores.overall
    queries = f"{overall.answerable_queries:,} {'query' if overall.answerable_queries == 1 else 'queries'}"
    behind = f"{queries} for {overall.recalls:,} logged recalls"
    if first.value is None:
        return Conclusion(f"No figure for the log: {behind}", "", "say what is relevant for more of them", tone="bad")
    if first.low is None or first.high is None:
        happened = f"Of the whole log {first.measure} is {figure(first.value)}, from {behind}"
        return Conclusion(happened, "they give no interval", "say what is relevant for more of them", tone="open")
    between = f"95% {figure(first.low)} to {figure(first.high)}"
    happened = f"Of the whole log {first.measure} is {figure(first.value)} ({between}), from {behind}"
    if scores.unlabelled:
        left = f"{scores.unlabelled} of the sample have no answer yet"
        return Conclusion(happened, left, "say what is relevant: recallbench label DIR", tone="open")
    return Conclusion(happened, "each kind counts by its recalls, so that the estimate is of all that was logged")


def markdown(scores: LogScores) -> str:
    """Return scores and notes as Markdown."""
    heading = inline(", ".join(scores.files) + f" against {scores.labels}")
    told = (f"- {opening(line)}" for line in remarks(scores))
    return "\n".join([f"### {heading}", "", *table(scores).markdown(), "", *told]) + "\n"


def _row(part: SlicePart) -> tuple[str, ...]:
    times = (part.latency.p50_ms, part.latency.p95_ms)
    return (
        part.name,
        str(part.recalls),
        str(part.labelled_recalls),
        str(part.labelled_queries),
        *(figure(mean.value) for mean in part.measures),
        *("–" if value is None else f"{value:.4g} ms" for value in times),
    )
