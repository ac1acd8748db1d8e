"""How a repeat ends: whether runs agree, and what one of them is worth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recallbench.escaping import shell
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.reports.repetition.document import MARKDOWN, BandPart, Repetition

NOT_HELD = "not applicable: "
"""The start of what is told of a band that does not judge."""


def conclusion(repetition: Repetition, folder: Path, command: TypedCommand, kept: int = 0) -> Conclusion:
    """Return whether runs agree, what that allows to say, and what to do next.

    `command` is the one that was typed; `kept` runs were there before.
    """
    passes = _passes(repetition)
    told = [*([f"{kept} of the runs from before an interruption"] if kept else []), *_flips(repetition)]
    judged = [(band, band.apart) for band in repetition.bands if band.apart is not None]
    if repetition.unlike:
        return Conclusion(
            f"{passes} are not of one configuration: {', '.join(repetition.unlike)} changed between them",
            "so their spread is no noise, and no band judges it",
            f"repeat it while nothing else changes: {command.again('--resume')}",
            tone="bad",
        )
    if not judged:
        return Conclusion(f"No question counts, so that {passes} say nothing", tone="bad")
    compare = shell.command("compare", folder / repetition.passes[0].name, "OTHER")
    if repetition.same_rankings:
        unlike = [] if repetition.same_content else ["what else they recorded differs"]
        return Conclusion(
            "; ".join([f"{passes} give the same rankings, to the last score", *unlike, *told]),
            "so no noise of the store is seen, and one run will do (vectors were computed once)",
            f"hold it against another system: {compare}",
        )
    moves = [f"{band.measure} moves by {apart:.4f}" for band, apart in judged if apart > 0]
    apart = max(apart for _, apart in judged)
    still = " and ".join(band.measure for band, _ in judged)
    moved = f"{' and '.join(moves)} between {passes}" if moves else f"{passes} rank differently, but keep their {still}"
    happened = "; ".join([_banded(moved, judged), *told])
    if not repetition.holds:
        return Conclusion(
            happened,
            f"so no single run can be believed beyond {apart:.4f}",
            f"look for what moves: {folder / MARKDOWN} lists the questions",
            tone="bad",
        )
    return Conclusion(
        happened,
        "so one run can stand for all" + (f", but tells no difference up to {apart:.4f}" if apart > 0 else ""),
        f"hold it against another system: {compare}",
        tone="good" if any(band.inside for band, _ in judged) else "open",
    )


def _passes(repetition: Repetition) -> str:
    cold = sum(pass_.state == "cold" for pass_ in repetition.passes)
    warm = len(repetition.passes) - cold
    return f"{cold} cold and {warm} warm runs" if warm else f"{cold} cold runs"


def _flips(repetition: Repetition) -> list[str]:
    flips = sum(question.flips for question in repetition.moved)
    if not repetition.moved:
        return []
    return [f"{flips} of {repetition.n} questions {'flips' if flips == 1 else 'flip'} at 10"]


def _banded(moved: str, judged: Sequence[tuple[BandPart, float]]) -> str:
    """Return the movement with the bands that it is held to, or why it is held to none."""
    if outside := [band for band, _ in judged if band.inside is False]:
        return f"{moved}, outside the band of {' and '.join(f'{band.width:g} of {band.measure}' for band in outside)}"
    inside = [band for band, _ in judged if band.inside]
    if inside:
        widths = " and ".join(f"{band.width:g}" for band in inside)
        return f"{moved}, within the band{'s' if len(inside) > 1 else ''} of {widths}"
    return f"{moved}; held to no band: {judged[0][0].told.removeprefix(NOT_HELD)}"
