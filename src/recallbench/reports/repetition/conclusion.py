"""How a repeat ends: whether runs agree, and what one of them is worth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recallbench.escaping import shell
from recallbench.reports.conclusions.names import listed
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.reports.repetition.document import MARKDOWN, BandPart, Repetition


def conclusion(repetition: Repetition, folder: Path, command: TypedCommand) -> Conclusion:
    """Return whether runs agree, what that allows to say, and what to do next; `command` is the one that was typed."""
    passes = _passes(repetition)
    judged = [(band, band.apart) for band in repetition.bands if band.apart is not None]
    if repetition.unlike:
        return Conclusion(
            f"{passes} are not of one configuration: {listed(repetition.unlike, 2)} changed between them",
            "their spread is no noise, and no band judges it",
            f"repeat it while nothing else changes: {command.again('--resume')}",
            tone="bad",
        )
    if not judged:
        return Conclusion(f"No question counts, so that {passes} say nothing", tone="bad")
    compare = shell.command("compare", folder / repetition.passes[0].name, "OTHER")
    if repetition.same_rankings:
        return Conclusion(
            f"{passes} give the same rankings, to the last score",
            "the store adds no noise, so that one run will do",
            compare,
        )
    apart = max(apart for _, apart in judged)
    happened = _banded(_moved(judged, passes), judged)
    if not repetition.holds:
        return Conclusion(
            happened,
            f"no single run can be believed beyond {apart:.4f}",
            f"see which questions move: {folder / MARKDOWN}",
            tone="bad",
        )
    return Conclusion(
        happened,
        "one run can stand for all" + (f", but tells no difference up to {apart:.4f}" if apart > 0 else ""),
        compare,
        tone="good" if any(band.inside for band, _ in judged) else "open",
    )


def _passes(repetition: Repetition) -> str:
    cold = sum(pass_.state == "cold" for pass_ in repetition.passes)
    warm = len(repetition.passes) - cold
    return f"{cold} cold and {warm} warm runs" if warm else f"{cold} cold runs"


def _moved(judged: Sequence[tuple[BandPart, float]], passes: str) -> str:
    """Return how far each measure moves."""
    moves = [(band.measure, apart) for band, apart in judged if apart > 0]
    if not moves:
        return f"{passes} rank differently, but keep their {' and '.join(band.measure for band, _ in judged)}"
    (first, most), *others = moves
    more = "".join(f" and {measure} by {apart:.4f}" for measure, apart in others)
    return f"{first} moves by {most:.4f}{more} over {passes}"


def _banded(moved: str, judged: Sequence[tuple[BandPart, float]]) -> str:
    """Return the movement with whether it keeps within the bands that it is held to."""
    outside = [band.measure for band, _ in judged if band.inside is False]
    inside = sum(bool(band.inside) for band, _ in judged)
    if outside and inside:
        return f"{moved}, outside the band of {' and '.join(outside)}"
    if outside or inside:
        bands = "its band" if max(len(outside), inside) == 1 else "their bands"
        return f"{moved}, {'outside' if outside else 'within'} {bands}"
    return f"{moved}; held to no band"
