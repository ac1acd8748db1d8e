"""How the times of a latency study came about, in sentences."""

from __future__ import annotations

from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.reports.cells import milliseconds
from recallbench.reports.latency import impossible_sentence
from recallbench.reports.load.tables import named_system
from recallbench.reports.time.visible import ignored_sentence
from recallbench.results.load.levels import LatencyDocument, RoundTripsPart
from recallbench.retrieval.timing import IN_THIS_PROCESS
from recallbench.scoring.load.figures import ANSWERING, STORE_CALL
from recallbench.scoring.quantiles import quantile


def title(document: LatencyDocument) -> str:
    """Return corpus and systems in a line."""
    systems = [
        f"{system.side} {named_system(system)}" if len(document.systems) > 1 else named_system(system)
        for system in document.systems
    ]
    return f"Latency of {' against '.join(systems)} on {plain_names(document.corpus)}"


def notes(document: LatencyDocument) -> list[str]:
    """Return how the times came about, a sentence each."""
    cold = [
        f"{of_side(document, part.side)}cold{at_size(document, part.size)}: "
        f"{', '.join(map(milliseconds, part.ms))} ms, each the first call of a fresh session."
        if part.ms
        else f"{of_side(document, part.side)}no cold call{at_size(document, part.size)}: {part.why_none}."
        for part in document.cold
    ]
    warm = ", ".join(
        f"{of_side(document, part.side)}{part.calls} calls{at_size(document, part.size)} in {part.seconds:.1f} s"
        for part in document.warm_up
    )
    alone = {part.side: part.why_alone for part in document.saturation if part.why_alone}
    return [
        f"A time counts {document.measures}.",
        *_parts(document),
        *_round_trips(document),
        *_rows_returned(document),
        *(f"{of_side(document, side)}asked by one client: {why}." for side, why in alone.items()),
        *cold,
        f"Not in the table: warm-up, {warm}.",
        f"{document.questions} different questions, each with its own vector; in one level each was asked "
        f"{_times(max(row.most_often for row in document.rows))}; {document.arrivals} arrivals, seed "
        f"{document.seed}; {document.seconds:g} s a level, or {document.most_calls:,} calls; {document.depth} hits "
        "asked for.",
        *ignored_sentence(document.environment),
        *_machine(document),
    ]


def _machine(document: LatencyDocument) -> list[str]:
    unquiet = [row for row in document.rows if not row.machine.quiet]
    lines = [f"Before the first level: {document.before.words}"]
    if unquiet:
        worst = max(unquiet, key=lambda row: row.machine.others or 0.0)
        lines.append(f"While timing, at the worst: {worst.machine.words}")
    cpu = document.environment.get("machine", {})
    return [*lines, f"{cpu.get('cpu', 'an unnamed processor')}, {cpu.get('cores', '?')} cores."]


def _parts(document: LatencyDocument) -> list[str]:
    """Return how the parts of a time are to be read, or of which system they are not told."""
    named: dict[str, set[str]] = {}
    for row in document.rows:
        named.setdefault(row.side, set()).update(part.name for part in row.parts)
    lines = []
    if any(STORE_CALL in parts for parts in named.values()):
        lines.append(
            "Of that, store call is from handing a question to the system until its answer is here, and waiting is for "
            "a free client; percentiles of parts do not add up to those of the whole."
        )
    return lines + [
        f"{of_side(document, side) or 'Of that, '}store call and adapter are not told apart: {IN_THIS_PROCESS}."
        for side, parts in named.items()
        if ANSWERING in parts
    ]


def _round_trips(document: LatencyDocument) -> list[str]:
    """Return what a round trip without work takes, and whether searches are too fast to be true."""
    lines = []
    for part in document.round_trips:
        trip = quantile(part.ms, 0.5)
        if trip is None:
            continue
        lines.append(
            f"{of_side(document, part.side) or 'The '}transport{at_size(document, part.size)}: a round trip without "
            f"work takes {milliseconds(trip)} ms (p50 of {len(part.ms)}), and no answer can be faster."
        )
        if (search := undercut(document, part)) is not None:
            lines.append(impossible_sentence(search, trip, len(part.ms)))
    return lines


def undercut(document: LatencyDocument, part: RoundTripsPart) -> float | None:
    """Return the p50 of searches that is below that of a round trip without work; None where it is not."""
    trip = quantile(part.ms, 0.5)
    closed = [row for row in document.rows if (row.side, row.size, row.kind) == (part.side, part.size, "closed")]
    told = {each.name: each.p50 for row in closed[:1] for each in row.parts}
    search = told.get(STORE_CALL, told.get(ANSWERING))
    return search if search is not None and trip is not None and search < trip else None


def _rows_returned(document: LatencyDocument) -> list[str]:
    """Return the level with the fewest of its rows back, for each system that returned too few."""
    lines = []
    for side in dict.fromkeys(row.side for row in document.rows):
        short = [row.rows for row in document.rows if row.side == side and row.rows and row.rows.short_calls]
        if short:
            worst = min(short, key=lambda rows: rows.returned / rows.eligible)
            lines.append(
                f"{of_side(document, side) or 'The store '}answers with fewer rows than asked: at the worst level "
                f"{worst.returned:,} of {worst.eligible:,} that the haystacks hold "
                f"({worst.returned / worst.eligible:.1%}); "
                f"{worst.short_calls:,} calls got too few."
            )
    return lines


def _times(most: int) -> str:
    return f"up to {most} times" if most > 1 else "once at most"


def of_side(document: LatencyDocument, side: str) -> str:
    """Return the name of a system before what is said of it; empty where there is one alone."""
    return f"{side} " if len(document.systems) > 1 else ""


def at_size(document: LatencyDocument, size: int) -> str:
    """Return the size of the haystacks behind what is said of it; empty where there is one alone."""
    return f" at {size}x" if len({row.size for row in document.rows}) > 1 else ""
