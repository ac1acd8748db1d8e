"""A memory that keeps turns, and says of each which session it came from.

    recallbench run realtalk --store python:examples.turn_memory:Turns
    recallbench run realtalk --store python:examples.turn_memory:Turns --set unit=sentence
    recallbench run realtalk --store python:examples.turn_memory:Turns --set unit=session

What it finds are turns, as `41-3` for the third of the session 41; what counts is the session, at its first turn. So
all three are asked for as many sessions, and a paired test tells what keeping turns is worth. It ranks by BM25.
"""

from __future__ import annotations

import math
import re
from collections import Counter

SPLITS = {"session": r"\Z", "turn": r"\n", "sentence": r"\n|(?<=[.!?])\s"}


class Turns:
    """Finds the turns (or sentences, or whole sessions) whose words fit a question best."""

    def __init__(self, unit: str = "turn") -> None:
        if unit not in SPLITS:
            raise ValueError(f"unit is one of {', '.join(SPLITS)}, not {unit}")
        self._split = SPLITS[unit]
        self._units: dict[str, tuple[str, Counter[str]]] = {}
        self._with: Counter[str] = Counter()
        self._words = 0

    def add(self, id: str, text: str) -> None:
        for number, part in enumerate(re.split(self._split, text), 1):
            words = Counter(re.findall(r"\w+", part.lower()))
            if words:
                self._units[f"{id}-{number}"] = (id, words)
                self._with.update(words.keys())
                self._words += words.total()

    def search(self, query: str, k: int) -> list[dict[str, object]]:
        asked = re.findall(r"\w+", query.lower())
        scored = [(self._score(asked, words), id, source) for id, (source, words) in self._units.items()]
        hits: list[dict[str, object]] = []
        sources: set[str] = set()
        for score, id, source in sorted(scored, key=lambda unit: -unit[0]):
            if source in sources or len(sources) < k:  # k sessions, however many turns of theirs come on the way
                sources.add(source)
                hits.append({"id": id, "score": score, "source": source})
            if len(sources) == k:
                break
        return hits

    def _score(self, asked: list[str], words: Counter[str]) -> float:
        length = 0.25 + 0.75 * words.total() * len(self._units) / self._words
        return sum(self._rarity(word) * words[word] * 2.2 / (words[word] + 1.2 * length) for word in asked)

    def _rarity(self, word: str) -> float:
        return math.log(1 + (len(self._units) - self._with[word] + 0.5) / (self._with[word] + 0.5))
