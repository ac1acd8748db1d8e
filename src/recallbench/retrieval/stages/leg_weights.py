"""How much each leg counts where lists become one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from recallbench.errors import UsageError
from recallbench.retrieval.stages.candidates import Candidates
from recallbench.retrieval.stages.stage import StageOption


def read_weights(text: str) -> tuple[float, ...]:
    """Return the numbers of a text such as `0.7, 0.3`; raises ValueError where they can't be weights."""
    weights = tuple(map(float, text.split(",")))
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights) or not any(weights):
        raise ValueError(f"{text} are no weights: 0 or more each, and one of them above 0")
    return weights


WEIGHTS = StageOption(
    "weights", "How much each leg counts, in the order of the legs, such as [0.7, 0.3]", parse=read_weights
)


def weights_of(weights: Sequence[float] | None, legs: Sequence[str]) -> Mapping[str, float]:
    """Return the weight of each leg by its name, 1 where none are given; raises UsageError where they don't fit."""
    if weights is None:
        return dict.fromkeys(legs, 1.0)
    if len(weights) != len(legs):
        raise UsageError(
            f"{len(weights)} weights don't fit {len(legs)} legs",
            expected=f"one weight for each of {', '.join(legs)}",
            found=", ".join(f"{weight:g}" for weight in weights),
        )
    return dict(zip(legs, weights, strict=True))


def that_count(
    lists: Sequence[Candidates], legs: Sequence[str], weights: Mapping[str, float]
) -> list[tuple[Candidates, float]]:
    """Return the lists whose leg counts at all, each with the weight of its leg."""
    return [(candidates, weights[leg]) for candidates, leg in zip(lists, legs, strict=True) if weights[leg]]
