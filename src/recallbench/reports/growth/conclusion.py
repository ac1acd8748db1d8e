"""How a growing store ends: how far recall falls and p95 grows, and whether one can believe it."""

from __future__ import annotations

from recallbench.reports.cells import figure, milliseconds
from recallbench.reports.comparison import LEVEL, DifferencePart, p_text
from recallbench.reports.growth.document import Growth, Size
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.deciding import disagreement
from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.scoring.quantiles import fewest_for_bound

FACTORS = (1, 2, 5)
"""The sizes that tell of growth."""
OF_GROW = ("--factors", "--plot")
"""The options of grow that latency does not have."""


def conclusion(growth: Growth, command: TypedCommand) -> Conclusion:
    """Return how far recall falls and p95 grows, whether one can believe it, and what to do next.

    `command` is the one that was typed.
    """
    more = f"give more documents to add: {command.again(distractors='FILE')}"
    first, last = growth.sizes[0], growth.sizes[-1]
    if len(growth.sizes) == 1:
        value = f"{first.estimates[0].measure} is {figure(first.estimates[0].value)} at {first.factor}x"
        factors = ",".join(str(factor) for factor in FACTORS if factor <= growth.room)
        then = command.again(factors=factors) if growth.room > 1 else more
        return Conclusion(value, "one size tells nothing of growth", then, tone="open")
    disturbed = ", ".join(f"{size.factor}x" for size in growth.sizes if size.disturbed)
    impossible = ", ".join(f"{size.factor}x" for size in growth.sizes if size.impossible)
    left_out = ", ".join(f"{factor}x" for factor in growth.left_out)
    if disturbed:
        then = f"on a quiet machine: {command.again(require_quiet='')}"
    elif left_out:
        then = more
    else:
        sizes = f"{first.factor},{last.factor}"
        then = f"the p95 under load: {command.named('latency').again(*OF_GROW, sizes=sizes)}"
    doubts = [
        *([f"the times at {impossible} can't be the store's"] if impossible else []),
        f"the machine was busy at {disturbed}: don't rely on its times" if disturbed else "no other load was seen",
        *_few(first),
        *([f"{left_out} left out: too few documents"] if left_out else []),
    ]
    return Conclusion(
        f"{_changed(growth, first, last)}; {_slowed(first, last)}",
        "; ".join([*_shown(growth.change), *doubts]),
        then,
        tone="open" if disturbed or impossible or left_out else "good",
    )


def _changed(growth: Growth, first: Size, last: Size) -> str:
    """Return what the leading measure does from the smallest size to the largest."""
    measure, change = first.estimates[0].measure, growth.change
    if change is None:
        return f"No question counts, so that {measure} has no value"
    values = [figure(size.estimates[0].value) for size in (first, last)]
    if not change.moved:
        return f"{measure} stays at {values[0]} up to {last.factor}x, for each of {change.n} questions"
    ends = (
        f"is {values[0]} at {first.factor}x and {values[1]} at {last.factor}x"
        if change.difference == 0
        else f"{'falls' if change.difference < 0 else 'rises'} from {values[0]} at {first.factor}x to {values[1]} at "
        f"{last.factor}x"
    )
    return f"{measure} {ends}: {change.words}, {change.n} questions, p {p_text(change.p)}"


def _slowed(first: Size, last: Size) -> str:
    if first.p95_ms is None or last.p95_ms is None:
        return "no time was taken"
    moves = "grows" if last.p95_ms > first.p95_ms else "does not grow:"
    return f"p95 {moves} from {milliseconds(first.p95_ms)} to {milliseconds(last.p95_ms)} ms"


def _few(size: Size) -> list[str]:
    """Return that a p95 is of too few queries to have an upper bound, where it is."""
    least = fewest_for_bound(0.95)
    return [f"p95 is of {size.queries} queries, and has no bound below {least}"] if 0 < size.queries < least else []


def _shown(change: DifferencePart | None) -> list[str]:
    """Return whether the change of the leading measure is shown; nothing where no question changed."""
    if change is None or not change.moved:
        return []
    if said := disagreement(change):
        return [said]
    if change.p <= LEVEL:
        return ["the change is shown"]
    if change.smallest_p > LEVEL:
        return [f"{change.clusters} clusters are too few to show any change"]
    found = f"; one of {figure(change.detectable)} is found four times in five" if change.detectable is not None else ""
    return [f"the change is not shown{found}"]
