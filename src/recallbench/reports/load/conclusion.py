"""How a latency study ends: what saturates where, what callers wait, and whether one can believe it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from recallbench.escaping import shell
from recallbench.escaping.terminal import shortened
from recallbench.reports.cells import rate
from recallbench.reports.load.next_levels import TYPICAL, next_levels, opened_of, stated_command, usable, why_untold
from recallbench.reports.load.tables import percentile
from recallbench.reports.load.words import undercut
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.deciding import deciding
from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.results.load.levels import LatencyDocument, SaturationPart
from recallbench.scoring.paired import holm


def conclusion(
    document: LatencyDocument, folder: Path | None = None, command: TypedCommand | None = None
) -> Conclusion:
    """Return what saturates where and what callers wait at a typical rate, the first reason to doubt it, what to do.

    Of several sizes it is told of the largest; the tables have the others. `folder` holds the study, and `command` is
    what was typed; without it the next one has corpus and store alone.
    """
    untold = [part for part in document.saturation if opened_of(document, part) and not usable(document, part)]
    if _impossible(document):
        then = "look whether they are kept in this process"
    else:
        again = next_levels(document, untold, command or stated_command(document))
        then = again or f"hold it in CI: {shell.command('gate', '--latency', folder or 'DIR')}"
    if not document.finished:
        ended = f"Ended early ({shortened(document.why_ended, 80)})"
        return Conclusion(ended, "what was measured until then is whole", then, tone="open")
    doubts = list(_doubts(document, untold))
    relied = not (untold or any(not row.machine.quiet for row in document.rows))
    found = [*_capacities(document), *(_waited(document) if relied else [])]
    happened = "; ".join(found) or "Nothing was measured whole"
    return Conclusion(
        happened, next(iter(doubts), "nothing disturbed these times"), then, tone="open" if doubts else "good"
    )


def _largest(document: LatencyDocument) -> list[SaturationPart]:
    """Return what is known of each system at the largest size."""
    size = max((part.size for part in document.saturation), default=1)
    return [part for part in document.saturation if part.size == size]


def _capacities(document: LatencyDocument) -> list[str]:
    """Return how many answers a second each system gives; of one alone, whether it could give more."""
    parts = _largest(document)
    if not parts:
        return []
    sizes = sorted({part.size for part in document.saturation})
    at = f"At {sizes[-1]}x " if len(sizes) > 1 else ""
    if len(parts) > 1:
        first, *others = parts
        told = [f"{first.side} gives {rate(first.rate)} answers a second"]
        return [at + ", ".join([*told, *(f"{other.side} {rate(other.rate)}" for other in others)])]
    (part,) = parts
    clients = f"{part.clients} client{'s' if part.clients > 1 else ''}"
    store = f"{at}the store" if at else "The store"
    least = min(document.saturation, key=lambda part: part.size)
    smallest = f", at {least.size}x {rate(least.rate)}" if at else ""
    if not part.reached:
        why = f", {shortened(part.why_no_more, 80)}" if part.why_no_more else ""
        return [f"{store} gives {rate(part.rate)} answers a second to {clients}{why}{smallest}"]
    return [f"{store} saturates at {rate(part.rate)} answers a second ({clients}){smallest}"]


def _waited(document: LatencyDocument) -> list[str]:
    """Return what callers wait at a typical rate; of two systems, which of them is shown to be slower there."""
    parts = _largest(document)
    if len(parts) > 1:
        return _slower(document, parts)
    known = [row for part in parts for row in usable(document, part)]
    if not known:
        return []
    row = min(known, key=lambda row: abs((row.utilisation or 0.0) - TYPICAL))
    return [f"at {rate(row.rate)} a second p95 is {percentile(row.p95)} ms"]


def _slower(document: LatencyDocument, parts: Sequence[SaturationPart]) -> list[str]:
    opened = [found for found in document.differences if found.rate is not None and found.percentile == "p95"]
    if not opened:
        return []
    corrected = holm([found.p for found in opened])
    shown = [(found, p) for found, p in zip(opened, corrected, strict=True) if p <= 0.05]
    if not shown:
        return ["their p95 is not shown to differ"]
    capacity = min(part.rate for part in parts)
    found, p = min(shown, key=lambda pair: abs((pair[0].rate or 0.0) / capacity - TYPICAL))
    slower = "B" if found.difference > 0 else "A"
    between = ""
    if found.low is not None and found.high is not None and found.low * found.high > 0:
        low, high = sorted((abs(found.low), abs(found.high)))
        between = f" ({low:.3g} to {high:.3g})"
    elsewhere = "" if len({each.difference > 0 for each, _ in shown}) == 1 else " and faster at another"
    return [
        f"{slower} is slower at {rate(found.rate)} a second{elsewhere}: p95 by {abs(found.difference):.3g}{between} "
        f"ms, p {p:.3f} (Holm)"
    ]


def _impossible(document: LatencyDocument) -> bool:
    return any(undercut(document, part) is not None for part in document.round_trips)


def _doubts(document: LatencyDocument, untold: Sequence[SaturationPart]) -> Iterator[str]:
    """Yield the reasons not to rely on the times, the gravest first."""
    total = len(document.rows)
    if _impossible(document):
        yield "answers come faster than a round trip without work"
    if untold:
        yield f"no p95 can be told: {why_untold(document, untold[0])}"
    if any(not row.machine.quiet for row in document.rows):
        yield "the machine was busy, so don't rely on the times"
    if void := sum(row.void for row in document.rows):
        yield f"{void} of {total} levels {'is' if void == 1 else 'are'} void"
    opened = [row for row in document.rows if row.rate is not None]
    if not opened:
        yield "what callers wait while others ask too is not known"
    yield from _disagreement(document)
    if opened and not any(row.machine.others is not None for row in document.rows):
        yield "this system does not tell what else the machine did"


def _disagreement(document: LatencyDocument) -> Iterator[str]:
    """Yield which of interval and p decides at a rate where they disagree."""
    opened = [found for found in document.differences if found.rate is not None and found.percentile == "p95"]
    corrected = holm([found.p for found in opened])
    for found, p in zip(opened, corrected, strict=True):
        if said := deciding(found, p, len(opened), "blocks"):
            yield f"at {rate(found.rate)} a second {said}"
