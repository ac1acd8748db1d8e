"""What fails a comparison: conditions such as `recall_any@10 drops 0.005`, and proven regressions where none is set.

The drop is the first's value minus the second's. Of its 95% interval and the threshold,

    the whole interval at or above the threshold    fails: a drop of at least that much is proven
    the whole interval below the threshold          passes: such a drop is excluded
    the threshold inside, or no interval            inconclusive: too few questions to tell

and where no question's value differs at all, there is no drop: passes. Where questions depend on each other, the
interval is that of sign flips of whole clusters (`scoring/sign_flips.py`): a proven drop is none in at most 2.5% of
comparisons, however unequal clusters are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from recallbench.errors import UsageError
from recallbench.reports.comparison import LEVEL, ConditionPart, MeasuredPart
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import parse

FORM = "recall_any@10 drops 0.005"
UNEQUAL = 0.3
"""From this share of the questions on, one cluster's sign decides so much that it is told."""
_TEXT = re.compile(r"(?P<measure>\S+)\s+drops\s+(?:by\s+)?(?P<threshold>\S+)")


@dataclass(frozen=True, slots=True)
class Condition:
    """A drop of the measure, from first to second, that must not be."""

    measure: Measure
    threshold: float

    def __str__(self) -> str:
        return f"{self.measure} drops {self.threshold:g}"


def condition(text: str) -> Condition:
    """What `--fail-if` says; raises UsageError for anything but a measure, `drops` and a share above 0."""
    match = _TEXT.fullmatch(text.strip())
    threshold = _share(match["threshold"]) if match else None
    if match is None or threshold is None:
        raise UsageError(
            f"--fail-if {text!r} can't be understood",
            expected=f"MEASURE drops SHARE, the share above 0 and at most 1, as in '{FORM}'",
            found=text,
            remedy=f"--fail-if '{FORM}'",
        )
    return Condition(parse(match["measure"]), threshold)


def decide(asked: Condition, found: MeasuredPart) -> ConditionPart:
    """Whether the condition holds of the measured difference, and why."""
    low = None if found.high is None else -found.high
    high = None if found.low is None else -found.low
    if not found.wins and not found.losses:
        outcome, reason = "passes", "no question's value differs"
    elif low is None or high is None:
        outcome, reason = "inconclusive", f"there is no interval: {found.method}"
    else:
        between = f"the drop is between {low:+.4f} and {high:+.4f}"
        if low >= asked.threshold:
            outcome, reason = "fails", f"{between}: at least {asked.threshold:g}"
        elif high < asked.threshold:
            outcome, reason = "passes", f"{between}: below {asked.threshold:g}"
        else:
            outcome, reason = "inconclusive", f"{between}, and {asked.threshold:g} lies within{_uneven(found)}"
    return ConditionPart.model_validate(
        {
            "condition": str(asked),
            "measure": str(asked.measure),
            "threshold": asked.threshold,
            "low": low,
            "high": high,
            "outcome": outcome,
            "reason": reason,
        }
    )


def regressions(measures: Sequence[MeasuredPart]) -> list[str]:
    """The primary measures that fell, by the test and after its correction."""
    return [one.measure for one in measures if one.difference < 0 and one.p_holm is not None and one.p_holm <= LEVEL]


def exit_code(conditions: Sequence[ConditionPart], fallen: Sequence[str], *, strict: bool) -> int:
    """1 when a condition fails (with `strict`, also when one is inconclusive); with no condition, on a regression."""
    if not conditions:
        return 1 if fallen else 0
    failing = ("fails", "inconclusive") if strict else ("fails",)
    return 1 if any(one.outcome in failing for one in conditions) else 0


def _uneven(found: MeasuredPart) -> str:
    if found.largest is None or found.largest < UNEQUAL:
        return ""
    return f"; one of the {found.clusters} clusters holds {found.largest:.0%} of the questions"


def _share(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 < value <= 1 else None
