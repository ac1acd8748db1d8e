"""Which levels of a latency study tell what callers wait, and which to ask where none does."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.corpora.labelled_sets.set_name import is_set_name
from recallbench.reports.cells import rate
from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.results.load.levels import LatencyDocument, LevelPart, SaturationPart

TYPICAL = 0.7
"""The utilisation whose p95 is told."""
LOWER = (0.5, 0.4)
"""Those to ask where a higher one could not be measured."""
LEAST = 1 / 3
"""The utilisation below which a store is hardly under load."""


def opened_of(document: LatencyDocument, part: SaturationPart) -> list[LevelPart]:
    """Return the open loops of a system at a size."""
    return [row for row in document.rows if (row.side, row.size, row.kind) == (part.side, part.size, "open")]


def usable(document: LatencyDocument, part: SaturationPart) -> list[LevelPart]:
    """Return those that tell what callers wait: neither void nor saturated, nor far from the capacity."""
    return [row for row in opened_of(document, part) if not _faults(document, row)]


def why_untold(document: LatencyDocument, part: SaturationPart) -> str:
    """Return what is wrong with the rates that were asked."""
    opened = opened_of(document, part)
    faults = dict.fromkeys(fault for row in opened for fault in _faults(document, row))
    asked = f"{rate(opened[0].rate)} a second" if len(opened) == 1 else "every rate"
    return f"{asked} is {(' and ' if len(opened) == 1 else ' or ').join(faults)}"


def next_levels(document: LatencyDocument, untold: Sequence[SaturationPart], command: TypedCommand) -> str:
    """Return the command that measures what is not known yet, of systems that are `untold`; empty where all is."""
    opened = [row for row in document.rows if row.rate is not None]
    still = {} if all(row.machine.quiet for row in document.rows) else {"require_quiet": ""}
    if untold:
        if (share := _share(document, untold[0])) is None:
            return "take the times of the closed loops"
        asked = command.again(
            "--at", rates=f"{float(f'{share * _capacity(document, untold[0].size):.2g}'):.10g}", **still
        )
        return f"ask at {share:.0%} of it: {asked}"
    if still:
        return command.again(**still)
    if not document.finished:
        return f"measure the rest: {command.again()}"
    if not opened:
        return f"ask at your users' rates: {command.again('--at', rates='20,50')}"
    if any(row.void for row in opened):
        void = {row.rate for row in opened if row.void}
        kept = sorted({row.rate for row in opened if row.rate is not None} - void)
        return f"leave out what is void: {command.again('--at', rates=','.join(map(rate, kept)))}" if kept else ""
    return ""


def stated_command(document: LatencyDocument) -> TypedCommand:
    """Return the command of the study's corpus and stores, where nobody knows what else was typed."""
    # A file of one's own has its hash in the name, which is none to be typed.
    corpus = "DIR" if is_set_name(document.corpus) else "CORPUS" if "@" in document.corpus else document.corpus
    words: list[tuple[str, ...]] = [(corpus,)]
    for system, store, pipeline in zip(
        document.systems, ("--store", "--against"), ("--pipeline", "--against-pipeline"), strict=False
    ):
        words.append((pipeline, "FILE") if system.pipeline else (store, system.store))
    return TypedCommand(("recallbench", "latency"), tuple(words))


def _faults(document: LatencyDocument, row: LevelPart) -> list[str]:
    """Return why a rate does not tell what callers wait; nothing where it does."""
    faults = ["void"] if row.void else []
    if row.saturated:
        faults.append("more than it answers")
    elif row.p95.value is None:
        faults.append("without an answer")
    if row.rate is not None and row.rate < LEAST * _capacity(document, row.size):
        faults.append("under a third of the capacity")
    return faults


def _capacity(document: LatencyDocument, size: int) -> float:
    """Return how many questions a second each of the systems answers: both are asked at the same rates."""
    return min((part.rate for part in document.saturation if part.size == size), default=0.0)


def _share(document: LatencyDocument, part: SaturationPart) -> float | None:
    """Return the utilisation to ask: below those of a quiet machine that could not be measured; None where none is."""
    capacity = _capacity(document, part.size)
    failed = [
        row.rate / capacity
        for row in opened_of(document, part)
        if row.rate is not None and row.machine.quiet and row.rate >= LEAST * capacity
    ]
    # A little lower is no other rate.
    return next((share for share in (TYPICAL, *LOWER) if all(share < 0.9 * each for each in failed)), None)
