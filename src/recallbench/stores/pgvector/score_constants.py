"""The constants of the reference store's score, those that are options among them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from recallbench.errors import UsageError
from recallbench.stores.options import StoreOption
from recallbench.stores.pgvector.index_choice import whole
from recallbench.stores.pgvector.weights import WEIGHTS, exact

FIXED = {"bm25_k1": "1.2", "bm25_b": "0.75"}


def number(low: float, high: float = math.inf) -> Callable[[str], float]:
    """Return a reader of numbers within these bounds, which raises ValueError for another text."""

    def read(text: str) -> float:
        value = float(text)
        if not (math.isfinite(value) and low <= value <= high):
            raise ValueError(f"{text}, which is no number from {low:g}" + (f" to {high:g}" if high < math.inf else ""))
        return value

    return read


HALF_LIFE = StoreOption(
    "half_life", "Days after which a segment's recency has halved, 0.001 or more", default="30", parse=number(0.001)
)
GRAPH_BEST = StoreOption(
    "graph_best",
    "Among how many best a neighbour must be to count, 1 to 1000",
    default="5",
    parse=whole(1, 1000),
)
IMPORTANCE_THRESHOLD = StoreOption(
    "importance_threshold",
    "From which importance on it counts, 0 to 1; what is less important counts as 0",
    default="0",
    parse=number(0, 1),
)
OPTIONS = (HALF_LIFE, GRAPH_BEST, IMPORTANCE_THRESHOLD)
_PART = {HALF_LIFE.name: "recency", GRAPH_BEST.name: "graph", IMPORTANCE_THRESHOLD.name: "importance"}
"""The part of the score that each decides something of."""


@dataclass(frozen=True, slots=True)
class ScoreConstants:
    """What the parts of the score are worked out with."""

    half_life_days: float = 30.0
    graph_best: int = 5
    importance_threshold: float = 0.0

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> ScoreConstants:
        """Return those that these options make."""
        return cls(*(option.read(options) for option in OPTIONS))

    @property
    def settings(self) -> dict[str, str]:
        """The settings of the session that the score reads; the threshold where there is one."""
        threshold = {"importance_threshold": exact(self.importance_threshold)} if self.importance_threshold else {}
        return {
            **FIXED,
            "recency_half_life_days": exact(self.half_life_days),
            "graph_best": str(self.graph_best),
            **threshold,
        }


CONSTANTS = ScoreConstants()


def check_constants(options: Mapping[str, Any]) -> None:
    """Raise UsageError for a constant of a part that does not count."""
    weights = WEIGHTS.read(options)
    for option in OPTIONS:
        part = _PART[option.name]
        if option.name in options and not getattr(weights, part):
            raise UsageError(
                f"a score without {part} has no use for --set {option.name}",
                expected=f"weights with {part}",
                found=f"weights {weights}",
                remedy=f"leave it out, or add {part} to --weights",
            )
