"""How a growing store ends: how far recall falls and p95 grows, and whether one can believe it."""

from __future__ import annotations

from recallbench.reports.cells import figure, milliseconds
from recallbench.reports.comparison import LEVEL, DifferencePart, p_text
from recallbench.reports.conclusions.names import listed
from recallbench.reports.growth.document import Growth, Size
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.deciding import disagreement
from recallbench.reports.printing.typed_command import TypedCommand

FACTORS = (1, 2, 5)
"""The sizes that tell of growth."""
OF_GROW = ("--factors", "--plot")
"""The options of grow that latency does not have."""


def conclusion(growth: Growth, command: TypedCommand) -> Conclusion:
    """Return how far recall falls and p95 grows, whether one can believe it, and what to do next.

    `command` is the one that was typed.
    """
    more = command.again(distractors="FILE")
    first, last = growth.sizes[0], growth.sizes[-1]
    if len(growth.sizes) == 1:
        value = f"{first.estimates[0].measure} is {figure(first.estimates[0].value)} at {first.factor}x"
        factors = ",".join(str(factor) for factor in FACTORS if factor <= growth.room)
        then = command.again(factors=factors) if growth.room > 1 else more
        return Conclusion(value, "one size tells nothing of growth", then, tone="open")
    disturbed, impossible = (
        [f"{size.factor}x" for size in growth.sizes if getattr(size, what)] for what in ("disturbed", "impossible")
    )
    doubts = [
        *([f"the times at {listed(impossible)} can't be the store's"] if impossible else []),
        *(["the machine was busy, so don't rely on the times"] if disturbed else []),
        *_unshown(growth.change),
    ]
    if disturbed:
        then = command.again(require_quiet="")
    elif growth.change is not None and growth.change.moved and disagreement(growth.change):
        then = "ask more questions"
    elif growth.left_out:
        then = more
    else:
        then = command.named("latency").again(*OF_GROW, sizes=f"{first.factor},{last.factor}")
    changed = _changed(growth, first, last)
    relied = not (disturbed or impossible)
    return Conclusion(
        f"{changed}; {_slowed(first, last)}" if relied else changed,
        next(iter(doubts), _shown(growth.change)),
        then,
        tone="open" if disturbed or impossible or growth.left_out else "good",
    )


def _changed(growth: Growth, first: Size, last: Size) -> str:
    """Return what the leading measure does from the smallest size to the largest."""
    measure, change = first.estimates[0].measure, growth.change
    if change is None:
        return f"No question counts, so that {measure} has no value"
    value = figure(first.estimates[0].value)
    if not change.moved:
        return f"{measure} stays at {value} up to {last.factor}x, for each of {change.n} questions"
    if change.difference == 0:
        return f"{measure} is {value} at {last.factor}x as at {first.factor}x, {change.n} questions"
    moves = "falls" if change.difference < 0 else "rises"
    told = f"{change.words}, {change.n} questions, p {p_text(change.p)}"
    return f"{measure} {moves} from {first.factor}x to {last.factor}x: {told}"


def _slowed(first: Size, last: Size) -> str:
    if first.p95_ms is None or last.p95_ms is None:
        return "no time was taken"
    return f"p95 goes from {milliseconds(first.p95_ms)} to {milliseconds(last.p95_ms)} ms"


def _unshown(change: DifferencePart | None) -> list[str]:
    """Return why the change of the leading measure is not shown, or that interval and p disagree on it."""
    if change is None or not change.moved:
        return []
    if said := disagreement(change):
        return [said]
    if change.smallest_p > LEVEL:
        return [f"{change.clusters} clusters are too few to show any change"]
    return [] if change.p <= LEVEL else ["the change is not shown"]


def _shown(change: DifferencePart | None) -> str:
    return "the change is shown" if change is not None and change.moved else ""
