"""A plain class as a memory under test: `recallbench run locomo --store python:examples.plain_memory:Memory`.

It knows nothing of RecallBench. `--set rarity=0` counts every word alike.
"""

from __future__ import annotations

import math
import re
from collections import Counter


class Memory:
    """Finds the texts that share the most words with a question; rare words count more."""

    def __init__(self, rarity: float = 1.0) -> None:
        self._rarity = rarity
        self._words: dict[str, set[str]] = {}
        self._texts_with: Counter[str] = Counter()

    def add(self, id: str, text: str) -> None:
        self._words[id] = set(re.findall(r"\w+", text.lower()))
        self._texts_with.update(self._words[id])

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        asked = set(re.findall(r"\w+", query.lower()))
        scores = {id: sum(map(self._weight, asked & words)) for id, words in self._words.items()}
        return sorted(scores.items(), key=lambda hit: -hit[1])[:k]

    def _weight(self, word: str) -> float:
        return math.log(1 + len(self._words) / self._texts_with[word]) ** self._rarity
