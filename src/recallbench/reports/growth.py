"""A store's figures as its haystacks grow: document, table and plot."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from recallbench.corpora.labelled_sets.set_name import short_names
from recallbench.escaping.markdown import Markup, opening
from recallbench.reports.cells import figure, interval
from recallbench.reports.panel import LINE, SECOND, THIRD, Axis, Panel
from recallbench.reports.plot import Plot
from recallbench.reports.returned import returned_sentences
from recallbench.reports.table import Table
from recallbench.results.metrics import EstimatePart
from recallbench.scoring.quantiles import NEAREST_RANK
from recallbench.scoring.returned import ReturnedRows


@dataclass(frozen=True, slots=True)
class Size:
    """One size of the haystacks."""

    factor: int
    stored: int
    """Documents that the store held in all."""
    largest: int
    """Documents of the largest haystack."""
    estimates: tuple[EstimatePart, ...]
    p50_ms: float | None
    p95_ms: float | None
    """Of single warm queries, a sample."""
    queries: int
    ingest_seconds: float
    returned: tuple[ReturnedRows, ...]
    """Rows asked for and returned, of each call."""
    disturbed: str = ""
    """The other load of the machine, where it was not quiet."""
    impossible: str = ""
    """That its answers are faster than a round trip without work, where they are."""


@dataclass(frozen=True, slots=True)
class Growth:
    """One store on one corpus, haystack size by haystack size."""

    corpus: str
    store: str
    version: str
    embedder: str
    seed: int
    distractors: str
    """The source of the added documents."""
    matching: str
    """The method that makes a document relevant."""
    unmatched: int
    """Queries that expect a text which no document matches: they are in no mean."""
    pool: int
    """Documents that could be added, those that answer a query included."""
    passed_over: int
    """Documents that match a query's expected text, and so are no distractors in its haystack."""
    room: int
    """The largest factor with enough documents."""
    left_out: tuple[int, ...]
    """Requested factors that are larger."""
    sizes: tuple[Size, ...]


def document(growth: Growth) -> dict[str, object]:
    """Return the JSON document."""
    return asdict(growth) | {
        "percentiles": NEAREST_RANK,
        "sizes": [
            asdict(size) | {"estimates": [estimate.model_dump() for estimate in size.estimates]}
            for size in growth.sizes
        ],
    }


def table(growth: Growth) -> Table:
    """Return a row for each size."""
    names = [estimate.measure for estimate in growth.sizes[0].estimates]
    rows = [
        (
            f"{size.factor}x",
            str(size.stored),
            str(size.largest),
            *(Markup(f"{figure(estimate.value)} ({interval(estimate)})") for estimate in size.estimates),
            figure(size.estimates[0].chance),
            figure(size.p50_ms, 2),
            figure(size.p95_ms, 2),
        )
        for size in growth.sizes
    ]
    return Table(("size", "stored", "largest haystack", *names, "chance", "p50 ms", "p95 ms"), rows)


def notes(growth: Growth) -> list[str]:
    """Return sentences on how to read the table."""
    sampled = growth.sizes[0].queries
    lines = []
    if growth.left_out:
        names = ", ".join(f"{factor}x" for factor in growth.left_out)
        lines.append(f"{names} left out: there are documents for {growth.room}x, which stands in the last row.")
    if growth.matching != "id":
        lines.append(f"Matched by {growth.matching}.")
    if growth.unmatched:
        many = growth.unmatched != 1
        lines.append(
            f"{growth.unmatched} {'queries match' if many else 'query matches'} no document, and "
            f"{'are' if many else 'is'} in no mean."
        )
    if growth.passed_over:
        many = growth.passed_over != 1
        reason = (
            f"{'match' if many else 'matches'} what a query of another haystack expects"
            if growth.matching != "id"
            else f"{'say' if many else 'says'} word by word what a relevant document of another haystack says"
        )
        distractors = "distractors" if many else "distractor"
        lines.append(
            f"{growth.passed_over} of {growth.pool} documents {reason}: no {distractors} there, and not added to it."
        )
    remarks = [
        (size, remark)
        for size in growth.sizes
        for remark in (*(f"{line}." for line in returned_sentences(size.returned)), size.disturbed, size.impossible)
        if remark
    ]
    lines += [f"{size.factor}x: {remark}" for size, remark in remarks]
    return [
        *lines,
        f"{short_names(growth.corpus)}, {growth.store} {growth.version}, {growth.embedder}; "
        f"distractors: {growth.distractors}, seed {growth.seed}.",
        f"Chance is that of {growth.sizes[0].estimates[0].measure}. Times are those of {sampled} warm queries, one by "
        "one, end to end, on this machine, percentiles are nearest ranks: compare them within this table.",
    ]


def markdown(growth: Growth) -> str:
    """Return the table with its notes."""
    return "\n\n".join(["\n".join(table(growth).markdown()), *map(opening, notes(growth))]) + "\n"


def picture(growth: Growth) -> str:
    """Return a plot, as a file of its own, of figures and p95 against the number of documents stored."""
    name = f"{short_names(growth.corpus)}: {growth.store}"
    stored = [size.stored for size in growth.sizes]
    quality = Panel(name, y=Axis(low=0.0, high=1.02))
    for i, colour in zip(range(len(growth.sizes[0].estimates)), (LINE, SECOND, THIRD), strict=False):
        estimates = [size.estimates[i] for size in growth.sizes]
        values = [math.nan if estimate.value is None else estimate.value for estimate in estimates]
        quality.line(stored, values, colour, estimates[0].measure)
        quality.intervals(stored, estimates, label="" if i else "95% interval of each value")
    latency = Panel(x=Axis("documents stored"), y=Axis(low=0.0))
    timed = [size.p95_ms for size in growth.sizes if size.p95_ms is not None]
    if len(timed) == len(growth.sizes):
        latency.line(stored, timed, label="p95 of a warm query, ms")
    return Plot(name, 680, 230, [quality, latency], describe(growth)).picture()


def describe(growth: Growth) -> str:
    """Return the plot's values in words."""
    sizes = []
    for size in growth.sizes:
        figures = ", ".join(
            f"{estimate.measure} {figure(estimate.value)} ({interval(estimate)})" for estimate in size.estimates
        )
        sizes.append(f"{size.stored} documents: {figures}, p95 {figure(size.p95_ms, 2)} ms")
    return "; ".join(sizes) + "."
