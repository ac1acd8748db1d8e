"""How a store does as its haystacks grow: figures by size, told and drawn."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from recallbench.escaping.markdown import Markup, opening, table
from recallbench.escaping.terminal import visible
from recallbench.reports.cells import figure, interval
from recallbench.results.metrics import EstimatePart


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


@dataclass(frozen=True, slots=True)
class Growth:
    """One store on one corpus, haystack size by haystack size."""

    corpus: str
    store: str
    version: str
    embedder: str
    seed: int
    distractors: str
    """Where the additions came from."""
    matching: str
    """What made a document relevant."""
    unmatched: int
    """Queries that expect a text which no document matches: they are in no mean."""
    pool: int
    """Documents that could be added, before those that answer a query were passed over."""
    passed_over: int
    """Documents that match what a query of some haystack expects, and were not added to it: they are no distractors."""
    room: int
    """The largest factor that there are documents for."""
    left_out: tuple[int, ...]
    """Factors that were asked for and are larger."""
    sizes: tuple[Size, ...]


def document(growth: Growth) -> dict[str, object]:
    """For programs."""
    return asdict(growth) | {
        "percentiles": "interpolated",
        "sizes": [asdict(size) | {"estimates": [one.model_dump() for one in size.estimates]} for size in growth.sizes],
    }


def rows(growth: Growth) -> list[tuple[str, ...]]:
    """Header and one row a size."""
    names = [one.measure for one in growth.sizes[0].estimates]
    shown: list[tuple[str, ...]] = [("size", "stored", "largest haystack", *names, "chance", "p50 ms", "p95 ms")]
    for size in growth.sizes:
        cells = (Markup(f"{figure(one.value)} ({interval(one)})") for one in size.estimates)
        shown.append(
            (
                f"{size.factor}x",
                str(size.stored),
                str(size.largest),
                *cells,
                figure(size.estimates[0].chance),
                figure(size.p50_ms, 2),
                figure(size.p95_ms, 2),
            )
        )
    return shown


def notes(growth: Growth) -> list[str]:
    """What must be known to read the table."""
    sampled = growth.sizes[0].queries
    told = []
    if growth.left_out:
        asked = ", ".join(f"{factor}x" for factor in growth.left_out)
        told.append(f"{asked} left out: there are documents for {growth.room}x, which stands in the last row.")
    if growth.matching != "id":
        told.append(f"Matched by {growth.matching}.")
    if growth.unmatched:
        many = growth.unmatched != 1
        told.append(
            f"{growth.unmatched} {'queries match' if many else 'query matches'} no document, and "
            f"{'are' if many else 'is'} in no mean."
        )
    if growth.passed_over:
        many = growth.passed_over != 1
        said = (
            f"{'match' if many else 'matches'} what a query of another haystack expects"
            if growth.matching != "id"
            else f"{'say' if many else 'says'} word by word what a relevant document of another haystack says"
        )
        distractors = "distractors" if many else "distractor"
        told.append(
            f"{growth.passed_over} of {growth.pool} documents {said}: no {distractors} there, and not added to it."
        )
    return [
        *told,
        f"{growth.corpus}, {growth.store} {growth.version}, {growth.embedder}; distractors: {growth.distractors}, "
        f"seed {growth.seed}.",
        f"Chance is that of {growth.sizes[0].estimates[0].measure}. Times are those of {sampled} warm queries, one by "
        "one, on this machine, percentiles interpolated: compare them within this table.",
    ]


def markdown(growth: Growth) -> str:
    """The table with its notes."""
    header, *body = rows(growth)
    return "\n\n".join(["\n".join(table(header, body)), *map(opening, notes(growth))]) + "\n"


def drawn(growth: Growth) -> str:
    """An SVG of figures and p95 against the number of documents stored."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "recallbench", "text.parse_math": False}):
        paper = Figure(figsize=(7.0, 6.0), layout="constrained")
        quality, latency = paper.subplots(2, 1, sharex=True)
        stored = [size.stored for size in growth.sizes]
        for i, one in enumerate(growth.sizes[0].estimates):
            _line(quality, stored, [size.estimates[i] for size in growth.sizes], one.measure)
        quality.set_ylim(0, 1.02)
        quality.legend(frameon=False)
        quality.set_title(visible(f"{growth.corpus.partition('@')[0]}: {growth.store}"))
        timed = [size.p95_ms for size in growth.sizes]
        if all(time is not None for time in timed):
            latency.plot(stored, [time or 0.0 for time in timed], marker="o", label="p95 of a warm query, ms")
            latency.set_ylim(bottom=0)
            latency.legend(frameon=False)
        latency.set_xlabel("documents stored")
        kept = io.StringIO()
        paper.savefig(kept, format="svg", metadata={"Date": None, "Creator": None})
    return kept.getvalue()


def _line(axes: object, stored: Sequence[int], found: Sequence[EstimatePart], name: str) -> None:
    values = [one.value if one.value is not None else float("nan") for one in found]
    low = [v - one.low if one.low is not None else 0.0 for v, one in zip(values, found, strict=True)]
    high = [one.high - v if one.high is not None else 0.0 for v, one in zip(values, found, strict=True)]
    axes.errorbar(stored, values, yerr=(low, high), marker="o", capsize=3, label=name)  # type: ignore[attr-defined]
