"""How a latency study ends: where a store saturates, what callers wait, and whether one can believe it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recallbench.escaping import shell
from recallbench.reports.cells import milliseconds, rate
from recallbench.reports.load.next_levels import TYPICAL, next_levels, opened_of, stated_command, usable, why_untold
from recallbench.reports.load.tables import percentile
from recallbench.reports.load.words import at_size, of_side, undercut
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.deciding import deciding
from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.results.load.levels import LatencyDocument, LevelPart, SaturationPart
from recallbench.scoring.paired import holm


def conclusion(
    document: LatencyDocument, folder: Path | None = None, command: TypedCommand | None = None
) -> Conclusion:
    """Return what saturates where, what callers wait at a typical rate, and what to do.

    `folder` holds the study, and `command` is what was typed; without it the next one has corpus and store alone.
    """
    void = [row for row in document.rows if row.void]
    unquiet = [row for row in document.rows if not row.machine.quiet]
    opened = [row for row in document.rows if row.rate is not None]
    impossible = any(undercut(document, part) is not None for part in document.round_trips)
    untold = [part for part in document.saturation if opened_of(document, part) and not usable(document, part)]
    if impossible:
        then = "look whether answers are kept in this process: they come faster than a round trip without work"
    else:
        again = next_levels(document, untold, command or stated_command(document))
        then = again or f"hold that p95 in CI: {shell.command('gate', '--latency', folder or 'DIR')}"
    ended = [] if document.finished else [f"Ended early ({document.why_ended}), the levels above are whole"]
    found = [told for part in document.saturation for told in _saturation(document, part)]
    sure = document.finished and opened and not (void or unquiet or impossible or untold)
    believed = _believed(document, void, unquiet, opened)
    if untold and not (void or unquiet):
        believed = "so what callers wait at a usual load is not known"
    return Conclusion(
        "; ".join([*ended, *found, *_decided(document)]) or "Nothing was measured whole",
        "these can't be the times of the store" if impossible else believed,
        then,
        tone="good" if sure else "open",
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
    rows = opened_of(document, part)
    if not rows:
        return told
    known = usable(document, part)
    if not known:
        return [*told, f"no p95 can be told: {why_untold(document, part)}"]
    row = min(known, key=lambda row: abs((row.utilisation or 0.0) - TYPICAL))
    beyond = [each for each in rows if each.saturated]
    least = [f"{rate(min(each.rate or 0.0 for each in beyond))} a second is more than it answers"] if beyond else []
    of_that = f" ({row.utilisation:.0%} of that)" if row.utilisation is not None else ""
    return [*told, f"at {rate(row.rate)} a second{of_that} p95 is {percentile(row.p95)} ms", *least]


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
        if said := deciding(found, p, len(opened), "blocks"):
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
