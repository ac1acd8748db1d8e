"""A store's figures as its haystacks grow: document, table and plot."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from recallbench.corpora.labelled_sets.set_name import short_names
from recallbench.escaping.markdown import Markup, opening
from recallbench.reports.cells import figure, interval, milliseconds
from recallbench.reports.comparison import LEVEL, DifferencePart, p_text, signed, signed_range
from recallbench.reports.page import Page, captioned, listing
from recallbench.reports.panel import LINE, SECOND, THIRD, Axis, Panel
from recallbench.reports.plot import Plot
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.deciding import deciding
from recallbench.reports.printing.printed import Printed
from recallbench.reports.returned import returned_sentences
from recallbench.reports.table import Table
from recallbench.results.metrics import EstimatePart
from recallbench.scoring.quantiles import NEAREST_RANK, fewest_for_bound
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
    change: DifferencePart | None = None
    """The leading measure at the largest size minus that at the smallest, on the same questions."""


def document(growth: Growth) -> dict[str, object]:
    """Return the JSON document."""
    return asdict(growth) | {
        "percentiles": NEAREST_RANK,
        "change": None if growth.change is None else growth.change.model_dump(),
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


def conclusion(growth: Growth) -> Conclusion:
    """Return how far recall falls and p95 grows, whether one can believe it, and what to do next."""
    first, last = growth.sizes[0], growth.sizes[-1]
    if len(growth.sizes) == 1:
        value = f"{first.estimates[0].measure} is {figure(first.estimates[0].value)} at {first.factor}x"
        return Conclusion(value, "one size tells nothing of growth", "--factors 1,2,5", tone="open")
    disturbed = ", ".join(f"{size.factor}x" for size in growth.sizes if size.disturbed)
    impossible = ", ".join(f"{size.factor}x" for size in growth.sizes if size.impossible)
    left_out = ", ".join(f"{factor}x" for factor in growth.left_out)
    if disturbed:
        then = "the same command with --require-quiet on a quiet machine"
    elif left_out:
        then = f"--distractors FILE with documents for {left_out}"
    else:
        then = f"the p95 under load: recallbench latency with the same store and --sizes {first.factor},{last.factor}"
    doubts = [
        *([f"the times at {impossible} can't be the store's"] if impossible else []),
        f"the machine was busy at {disturbed}: don't rely on its times" if disturbed else "no other load was seen",
        *_few(first),
        *([f"{left_out} left out: too few documents"] if left_out else []),
    ]
    return Conclusion(
        f"{_changed(growth, first, last)}; {_slowed(first, last)}",
        "; ".join([*_shown(growth.change), *doubts]),
        then,
        tone="open" if disturbed or impossible or left_out else "good",
    )


def _changed(growth: Growth, first: Size, last: Size) -> str:
    """Return what the leading measure does from the smallest size to the largest."""
    measure, change = first.estimates[0].measure, growth.change
    if change is None:
        return f"No question counts, so that {measure} has no value"
    values = [figure(size.estimates[0].value) for size in (first, last)]
    if not change.wins and not change.losses:
        return f"{measure} stays at {values[0]} up to {last.factor}x, for each of {change.n} questions"
    between = f" ({signed_range(change.low, change.high)})" if change.low is not None else ""
    ends = (
        f"is {values[0]} at {first.factor}x and {values[1]} at {last.factor}x"
        if change.difference == 0
        else f"{'falls' if change.difference < 0 else 'rises'} from {values[0]} at {first.factor}x to {values[1]} at "
        f"{last.factor}x"
    )
    return f"{measure} {ends}: {signed(change.difference)}{between}, {change.n} questions, p {p_text(change.p)}"


def _slowed(first: Size, last: Size) -> str:
    if first.p95_ms is None or last.p95_ms is None:
        return "no time was taken"
    moves = "grows" if last.p95_ms > first.p95_ms else "does not grow:"
    return f"p95 {moves} from {milliseconds(first.p95_ms)} to {milliseconds(last.p95_ms)} ms"


def _few(size: Size) -> list[str]:
    """Return that a p95 is of too few queries to have an upper bound, where it is."""
    least = fewest_for_bound(0.95)
    return [f"p95 is of {size.queries} queries, and has no bound below {least}"] if 0 < size.queries < least else []


def _shown(change: DifferencePart | None) -> list[str]:
    """Return whether the change of the leading measure is shown; nothing where no question changed."""
    if change is None or not (change.wins or change.losses):
        return []
    disagreement = deciding((change.low, change.high), change.p, change.p, 1, change.smallest_p)
    if disagreement:
        return [disagreement]
    if change.p <= LEVEL:
        return ["the change is shown"]
    if change.smallest_p > LEVEL:
        return [f"{change.clusters} clusters are too few to show any change"]
    found = f"; one of {figure(change.detectable)} is found four times in five" if change.detectable is not None else ""
    return [f"the change is not shown{found}"]


def printed(growth: Growth) -> Printed:
    """Return what `recallbench grow` prints."""
    plot = _plot(growth)
    body = [
        *captioned(plot.element(), "The table has the same figures."),
        *table(growth).html(),
        *listing(notes(growth)),
    ]
    return Printed(
        plot.title,
        [table(growth), *notes(growth)],
        document(growth),
        conclusion(growth),
        own_markdown=markdown(growth),
        own_page=Page(plot.title, body).html(),
        own_sheet=_sheet(growth),
    )


def _sheet(growth: Growth) -> Table:
    """Return a row for each size with every digit, for a spreadsheet."""
    measures = [estimate.measure for estimate in growth.sizes[0].estimates]
    columns = ["size", "stored", "largest haystack"]
    columns += [f"{measure}{end}" for measure in measures for end in ("", " low", " high")]
    rows = [
        [
            *map(str, (size.factor, size.stored, size.largest)),
            *(_cell(value) for part in size.estimates for value in (part.value, part.low, part.high)),
            *map(_cell, (size.estimates[0].chance, size.p50_ms, size.p95_ms)),
            size.disturbed or size.impossible,
        ]
        for size in growth.sizes
    ]
    return Table([*columns, "chance", "p50 ms", "p95 ms", "remark"], rows)


def _cell(value: float | None) -> str:
    return "" if value is None else str(value)


def picture(growth: Growth) -> str:
    """Return a plot, as a file of its own, of figures and p95 against the number of documents stored."""
    return _plot(growth).picture()


def _plot(growth: Growth) -> Plot:
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
    return Plot(name, 680, 230, [quality, latency], describe(growth))


def describe(growth: Growth) -> str:
    """Return the plot's values in words."""
    sizes = []
    for size in growth.sizes:
        figures = ", ".join(
            f"{estimate.measure} {figure(estimate.value)} ({interval(estimate)})" for estimate in size.estimates
        )
        sizes.append(f"{size.stored} documents: {figures}, p95 {figure(size.p95_ms, 2)} ms")
    return "; ".join(sizes) + "."
