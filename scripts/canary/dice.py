"""Picks that come out the same on every machine."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import TypeVar

SEED = 42

Picked = TypeVar("Picked")


class Dice:
    """Seeded picks, made from `random()` alone: the one sequence that Python promises to keep."""

    def __init__(self, name: str) -> None:
        self._source = random.Random(f"{SEED} {name}")

    def below(self, count: int) -> int:
        return int(self._source.random() * count)

    def pick(self, values: Sequence[Picked]) -> Picked:
        return values[self.below(len(values))]

    def draw(self, values: Iterable[Picked], count: int) -> list[Picked]:
        """`count` different ones, in random order."""
        left = list(values)
        return [left.pop(self.below(len(left))) for _ in range(count)]
