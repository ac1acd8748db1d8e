"""The weights of the parts of the reference store's score."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from recallbench.errors import UsageError
from recallbench.stores.options import StoreOption


def exact(number: float) -> str:
    """Return a number in the fewest digits that are read back as the same: what is named is what runs."""
    return repr(float(number)).removesuffix(".0")


@dataclass(frozen=True, slots=True)
class Weights:
    """The factor of each part; a part left out counts nothing."""

    cosine: float = 0.0
    bm25: float = 0.0
    recency: float = 0.0
    importance: float = 0.0
    graph: float = 0.0

    @property
    def cosine_only(self) -> bool:
        """No other part counts."""
        return self.cosine > 0 and not (self.bm25 or self.recency or self.importance or self.graph)

    def __str__(self) -> str:
        """The canonical text, which `parse_weights` reads back."""
        return ",".join(f"{f.name}={exact(getattr(self, f.name))}" for f in fields(self) if getattr(self, f.name))


PARTS = tuple(f.name for f in fields(Weights))

DEFAULT_WEIGHTS = Weights(cosine=1.0, bm25=0.5, recency=0.05, importance=0.05, graph=0.05)
"""Reasoned, not tuned, and on no registered corpus. Cosine is the measure of meaning and sets the unit. BM25 is scaled
so that its best is 1 in every scope, and so spreads two to three times as far as the cosines of one question do: at a
half, words and meaning weigh about alike. Recency, importance and graph know nothing of the question: they decide
between near-equals, and never outweigh a clear difference in meaning."""


def parse_weights(text: str) -> Weights:
    """Read `cosine` or `cosine=1,bm25=0.5,…`; a bare name counts 1, a part not named 0."""
    weights: dict[str, float] = {}
    for word in text.split(","):
        name, separator, number = (piece.strip() for piece in word.partition("="))
        if name not in PARTS:
            raise _unreadable(text, f"`{name}` is no part of the score" if name else "an empty name")
        if name in weights:
            raise _unreadable(text, f"`{name}` is named twice")
        weights[name] = _factor(text, name, number) if separator else 1.0
    if not any(weights.values()):
        raise _unreadable(text, "every weight is 0, so nothing would be ranked")
    return Weights(**weights)


def _factor(text: str, name: str, number: str) -> float:
    try:
        factor = float(number)
    except ValueError:
        raise _unreadable(text, f"`{number}` as the weight of {name}") from None
    if not math.isfinite(factor) or factor < 0:
        raise _unreadable(text, f"`{number}` as the weight of {name}")
    return factor


def _unreadable(text: str, found: str) -> UsageError:
    return UsageError(
        f"the weights `{text}` can't be read",
        expected="names and numbers from 0 up, such as `cosine=1,bm25=0.5`; the names are " + ", ".join(PARTS),
        found=found,
        remedy="recallbench run … --weights cosine",
    )


WEIGHTS = StoreOption(
    "weights",
    "What each part of the score counts, as `cosine` or `cosine=1,bm25=0.5`",
    default=str(DEFAULT_WEIGHTS),
    parse=parse_weights,
    flag="weights",
)
