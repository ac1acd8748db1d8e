"""What follows from a latency study, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.corpora.labelled_sets.set_name import short_names
from recallbench.reports.cells import milliseconds, rate
from recallbench.reports.latency import impossible_sentence
from recallbench.reports.load.tables import named_system, percentile
from recallbench.reports.time.visible import ignored_sentence
from recallbench.results.load.levels import LatencyDocument, LevelPart
from recallbench.retrieval.timing import IN_THIS_PROCESS
from recallbench.scoring.load.figures import ANSWERING, STORE_CALL
from recallbench.scoring.paired import holm
from recallbench.scoring.quantiles import quantile

TYPICAL = 0.7
"""The utilisation whose p95 is told."""


def title(document: LatencyDocument) -> str:
    """Return corpus and systems in a line."""
    systems = [
        f"{system.side} {named_system(system)}" if len(document.systems) > 1 else named_system(system)
        for system in document.systems
    ]
    return f"Latency of {' against '.join(systems)} on {short_names(document.corpus)}"


def notes(document: LatencyDocument) -> list[str]:
    """Return how the times came about, a sentence each."""
    cold = [
        f"{_of(document, part.side)}cold{_at(document, part.size)}: {', '.join(map(milliseconds, part.ms))} ms, each "
        "the first call of a fresh session."
        if part.ms
        else f"{_of(document, part.side)}no cold call{_at(document, part.size)}: {part.why_none}."
        for part in document.cold
    ]
    warm = ", ".join(
        f"{_of(document, part.side)}{part.calls} calls{_at(document, part.size)} in {part.seconds:.1f} s"
        for part in document.warm_up
    )
    alone = {part.side: part.why_alone for part in document.saturation if part.why_alone}
    return [
        f"A time counts {document.measures}.",
        *_parts(document),
        *_round_trips(document),
        *_rows_returned(document),
        *(f"{_of(document, side)}asked by one client: {why}." for side, why in alone.items()),
        *cold,
        f"Not in the table: warm-up, {warm}.",
        f"{document.questions} different questions, each with its own vector; in one level each was asked "
        f"{_times(max(row.most_often for row in document.rows))}; {document.arrivals} arrivals, seed "
        f"{document.seed}; {document.seconds:g} s a level, or {document.most_calls:,} calls; {document.depth} hits "
        "asked for.",
        *ignored_sentence(document.environment),
        *_machine(document),
    ]


def conclusion(document: LatencyDocument) -> str:
    """Return what saturates where, what callers wait at a typical rate, and whether one can believe it."""
    sentences = []
    if not document.finished:
        sentences.append(f"Ended early ({document.why_ended}): the levels above are whole.")
    for part in document.saturation:
        clients = f"{part.clients} client{'s' if part.clients > 1 else ''}"
        name = _of(document, part.side) or "The store "
        where = _at(document, part.size)
        if part.reached:
            sentences.append(f"{name}saturates{where} at {clients} with {rate(part.rate)} answers a second.")
        else:
            why = "one client asks alone" if part.why_alone else "more were not tried"
            sentences.append(f"{name}gives{where} {rate(part.rate)} answers a second to {clients}; {why}.")
        rows = [row for row in document.rows if (row.side, row.size, row.kind) == (part.side, part.size, "open")]
        if rows:
            row = min(rows, key=lambda row: abs((row.utilisation or 0.0) - TYPICAL))
            sentences.append(_waiting(row))
    sentences += _decided(document)
    return " ".join([*sentences, believable(document)])


def believable(document: LatencyDocument) -> str:
    """Return whether the times can be relied on, and what would help where they can't."""
    void = [row for row in document.rows if row.void]
    unquiet = [row for row in document.rows if not row.machine.quiet]
    total = len(document.rows)
    if not void and not unquiet:
        opened = [row for row in document.rows if row.rate is not None]
        if not opened:
            return "No open loop was run: what callers wait while others ask too is not known."
        told = any(row.machine.others is not None for row in document.rows)
        machine = "the machine was quiet" if told else "this system does not tell what else the machine did"
        lag = milliseconds(max(row.lag_p99_ms for row in opened))
        trust = "these times can be relied on" if told else "look for that elsewhere before you rely on these times"
        return f"The generator kept time (p99 lag up to {lag} ms) and {machine}: {trust}."
    reasons = [
        *([f"the generator lagged in {len(void)} of {total} levels ({void[0].why_void})"] if void else []),
        *([f"the machine was not quiet in {len(unquiet)} of {total}"] if unquiet else []),
    ]
    remedy = (
        "repeat it on a quiet machine (--require-quiet)" if unquiet else "ask at lower --rates, or with fewer --clients"
    )
    return f"Don't rely on all of these times: {', and '.join(reasons)}; {remedy}."


def _waiting(row: LevelPart) -> str:
    at = f"At {rate(row.rate)} a second" + (f" ({row.utilisation:.0%} of that)" if row.utilisation is not None else "")
    if row.p95.value is None:
        return f"{at} nothing was answered."
    marks = [*(["void"] if row.void else []), *(["saturated"] if row.saturated else [])]
    return f"{at} p95 is {percentile(row.p95)} ms{' (' + ', '.join(marks) + ')' if marks else ''}."


def _decided(document: LatencyDocument) -> Sequence[str]:
    opened = [found for found in document.differences if found.rate is not None and found.percentile == "p95"]
    corrected = holm([found.p for found in opened])
    told = [
        f"At {rate(found.rate)} a second {'B' if found.difference > 0 else 'A'} is slower: p95 of blocks "
        f"{abs(found.difference):.3g} ms apart, p {p:.3f} (Holm, {len(opened)} open loops)."
        for found, p in zip(opened, corrected, strict=True)
        if p <= 0.05
    ]
    if opened and not told:
        told.append(f"In no open loop does the p95 of A and B differ at p .05 (Holm, {len(opened)} open loops).")
    return told


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
        f"{_of(document, side) or 'Of that, '}store call and adapter are not told apart: {IN_THIS_PROCESS}."
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
            f"{_of(document, part.side) or 'The '}transport{_at(document, part.size)}: a round trip without work takes "
            f"{milliseconds(trip)} ms (p50 of {len(part.ms)}), and no answer can be faster."
        )
        closed = [row for row in document.rows if (row.side, row.size, row.kind) == (part.side, part.size, "closed")]
        told = {each.name: each.p50 for row in closed[:1] for each in row.parts}
        search = told.get(STORE_CALL, told.get(ANSWERING))
        if search is not None and search < trip:
            lines.append(impossible_sentence(search, trip, len(part.ms)))
    return lines


def _rows_returned(document: LatencyDocument) -> list[str]:
    """Return the level with the fewest of its rows back, for each system that returned too few."""
    lines = []
    for side in dict.fromkeys(row.side for row in document.rows):
        short = [row.rows for row in document.rows if row.side == side and row.rows and row.rows.short_calls]
        if short:
            worst = min(short, key=lambda rows: rows.returned / rows.eligible)
            lines.append(
                f"{_of(document, side) or 'The store '}answers with fewer rows than asked: at the worst level "
                f"{worst.returned:,} of {worst.eligible:,} that the haystacks hold "
                f"({worst.returned / worst.eligible:.1%}); "
                f"{worst.short_calls:,} calls got too few."
            )
    return lines


def _times(most: int) -> str:
    return f"up to {most} times" if most > 1 else "once at most"


def _of(document: LatencyDocument, side: str) -> str:
    return f"{side} " if len(document.systems) > 1 else ""


def _at(document: LatencyDocument, size: int) -> str:
    return f" at {size}x" if len({row.size for row in document.rows}) > 1 else ""
