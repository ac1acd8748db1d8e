"""How a latency study ends: where a store saturates, what callers wait, and whether one can believe it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from recallbench.reports.cells import milliseconds, rate
from recallbench.reports.load.tables import percentile
from recallbench.reports.load.words import at_size, of_side, undercut
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.deciding import deciding
from recallbench.results.load.levels import LatencyDocument, LevelPart, SaturationPart
from recallbench.scoring.paired import holm

TYPICAL = 0.7
"""The utilisation whose p95 is told."""


def conclusion(document: LatencyDocument, folder: Path | None = None) -> Conclusion:
    """Return what saturates where, what callers wait at a typical rate, and what to do; `folder` holds the study."""
    void = [row for row in document.rows if row.void]
    unquiet = [row for row in document.rows if not row.machine.quiet]
    opened = [row for row in document.rows if row.rate is not None]
    impossible = any(undercut(document, part) is not None for part in document.round_trips)
    if impossible:
        then = "look whether answers are kept in this process: they come faster than a round trip without work"
    elif unquiet:
        then = "repeat it on a quiet machine (--require-quiet)"
    elif void:
        then = "ask at lower --rates, or with fewer --clients"
    elif not document.finished:
        then = "the same command again"
    elif not opened:
        then = "ask at rates of your users: --rates 20,50"
    else:
        then = f"hold that p95 in CI: recallbench gate --latency {'DIR' if folder is None else quote(str(folder))}"
    ended = [] if document.finished else [f"Ended early ({document.why_ended}), the levels above are whole"]
    found = [told for part in document.saturation for told in _saturation(document, part)]
    return Conclusion(
        "; ".join([*ended, *found, *_decided(document)]) or "Nothing was measured whole",
        "these can't be the times of the store" if impossible else _believed(document, void, unquiet, opened),
        then,
        tone="good" if document.finished and opened and not (void or unquiet or impossible) else "open",
    )


def _saturation(document: LatencyDocument, part: SaturationPart) -> list[str]:
    """Return where a system saturates, what callers wait at a rate that it keeps up with, and which is too much."""
    clients = f"{part.clients} client{'s' if part.clients > 1 else ''}"
    name, where = of_side(document, part.side) or "The store ", at_size(document, part.size)
    if part.reached:
        told = [f"{name}saturates{where} at {clients} with {rate(part.rate)} answers a second"]
    else:
        why = "one client asks alone" if part.why_alone else "more were not tried"
        told = [f"{name}gives{where} {rate(part.rate)} answers a second to {clients}, {why}"]
    rows = [row for row in document.rows if (row.side, row.size, row.kind) == (part.side, part.size, "open")]
    if not rows:
        return told
    usable = [row for row in rows if not row.void and not row.saturated and row.p95.value is not None]
    row = min(usable or rows, key=lambda row: abs((row.utilisation or 0.0) - TYPICAL))
    beyond = [each for each in rows if each.saturated and each is not row]
    least = [f"{rate(min(each.rate or 0.0 for each in beyond))} a second is more than it answers"] if beyond else []
    return [*told, _waiting(row), *least]


def _waiting(row: LevelPart) -> str:
    at = f"at {rate(row.rate)} a second" + (f" ({row.utilisation:.0%} of that)" if row.utilisation is not None else "")
    if row.p95.value is None:
        return f"{at} nothing was answered"
    marks = [*(["void"] if row.void else []), *(["saturated"] if row.saturated else [])]
    return f"{at} p95 is {percentile(row.p95)} ms{' (' + ', '.join(marks) + ')' if marks else ''}"


def _decided(document: LatencyDocument) -> list[str]:
    """Return at which rates one of two systems is shown to be slower; what is disturbed is said of them all."""
    opened = [found for found in document.differences if found.rate is not None and found.percentile == "p95"]
    corrected = holm([found.p for found in opened])
    loops = f"Holm, {len(opened)} open loop{'s' if len(opened) > 1 else ''}"
    told = [
        f"at {rate(found.rate)} a second {'B' if found.difference > 0 else 'A'} is slower: p95 of blocks "
        f"{abs(found.difference):.3g} ms apart, p {p:.3f} ({loops})"
        for found, p in zip(opened, corrected, strict=True)
        if p <= 0.05
    ]
    if opened and not told:
        told.append(f"in no open loop does the p95 of A and B differ at p .05 ({loops})")
    for found, p in zip(opened, corrected, strict=True):
        if said := deciding((found.low, found.high), found.p, p, len(opened), found.smallest_p):
            return [*told, f"at {rate(found.rate)} a second {said}"]
    return told


def _believed(
    document: LatencyDocument, void: Sequence[LevelPart], unquiet: Sequence[LevelPart], opened: Sequence[LevelPart]
) -> str:
    """Return whether the times can be relied on."""
    total = len(document.rows)
    if void or unquiet:
        reasons = [
            *([f"the generator lagged in {len(void)} of {total} levels ({void[0].why_void})"] if void else []),
            *([f"the machine was not quiet in {len(unquiet)} of {total}"] if unquiet else []),
        ]
        return f"don't rely on all of these times: {', and '.join(reasons)}"
    if not opened:
        return "no open loop was run: what callers wait while others ask too is not known"
    told = any(row.machine.others is not None for row in document.rows)
    machine = "the machine was quiet" if told else "this system does not tell what else the machine did"
    lag = milliseconds(max(row.lag_p99_ms for row in opened))
    trust = "these times can be relied on" if told else "look for that elsewhere before you rely on these times"
    return f"the generator kept time (p99 lag up to {lag} ms) and {machine}: {trust}"
