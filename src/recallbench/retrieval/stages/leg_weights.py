"""How much each leg counts where lists become one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from recallbench.errors import UsageError
from recallbench.retrieval.stages.stage import StageOption


def read_weights(text: str) -> tuple[float, ...]:
    """Return the numbers of a text such as `0.7, 0.3`; raises ValueError where they can't be weights."""
    weights = tuple(float(part) for part in text.strip("[] ").split(","))
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights) or not any(weights):
        raise ValueError(f"{text} are no weights: 0 or more each, and one of them above 0")
    return weights


WEIGHTS = StageOption(
    "weights", "How much each leg counts, in the order of the legs, such as 0.7, 0.3", parse=read_weights
)


def by_list(weights: Sequence[float] | None, legs: Sequence[str]) -> list[float]:
    """Return the weight of each list, that of its leg; all count 1 where there are none.

    Raises UsageError unless there is one for each leg.
    """
    names = list(dict.fromkeys(legs))
    if weights is None:
        return [1.0] * len(legs)
    if len(weights) != len(names):
        raise UsageError(
            f"{len(weights)} weights don't fit {len(names)} legs",
            expected=f"one weight for each of {', '.join(names)}",
            found=", ".join(f"{weight:g}" for weight in weights),
        )
    of_leg = dict(zip(names, weights, strict=True))
    return [of_leg[leg] for leg in legs]
