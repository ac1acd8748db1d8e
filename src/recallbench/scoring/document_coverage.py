"""Coverage: how many segments any question retrieves, and how much of the gold any ranking reaches."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from recallbench.scoring.judgement import Ints


@dataclass(frozen=True, slots=True)
class Covered:
    """What came back among the first k of at least one question."""

    k: int
    segments: int
    """Segments that came back for any question."""
    segments_share: float | None
    """Of all that a question may be answered from."""
    segments_chance: float | None
    """The expected share where every ranking is in random order."""
    segments_ceiling: float | None
    """The largest share that k places for each question can hold."""
    gold: int
    """Gold segments that came back for a question that they answer."""
    gold_share: float | None
    gold_chance: float | None


class AskedSegments:
    """The segments that the questions of a set may be answered from, and which of them answer which question."""

    def __init__(self, scopes: Sequence[str], candidates: Sequence[int], gold: Sequence[Collection[int]]) -> None:
        """Take by question its scope, the size of that scope, and the positions there of what answers the question.

        A question that sees the first segments of its scope alone has their number for a size.
        """
        numbers: dict[str, int] = {}
        self._scope = np.array([numbers.setdefault(scope, len(numbers)) for scope in scopes], dtype=np.int64)
        self._sizes = np.zeros(len(numbers), dtype=np.int64)
        self._candidates = np.asarray(candidates, dtype=np.int64)
        np.maximum.at(self._sizes, self._scope, self._candidates)
        self._nested = bool((self._candidates != self._sizes[self._scope]).any())
        """Questions of one scope see more and more of it."""
        self._first = np.cumsum(self._sizes) - self._sizes
        self._questions = np.bincount(self._scope, minlength=len(numbers))
        question, segment, _ = self._listed(gold)
        self._pairs = question * self.segments + segment
        self._gold, self._answered = np.unique(segment, return_counts=True)
        self._answering = question, np.searchsorted(self._gold, segment)

    @property
    def segments(self) -> int:
        """How many segments at least one question may be answered from."""
        return int(self._sizes.sum())

    @property
    def gold(self) -> int:
        """How many of them answer at least one question."""
        return len(self._gold)

    def covered(self, rankings: Sequence[Sequence[int]], ks: Sequence[int]) -> list[Covered]:
        """Return the coverage at each k; by question, a ranking has the positions in its scope, best first."""
        question, segment, place = self._listed(rankings)
        answers = np.isin(question * self.segments + segment, self._pairs)
        nearest, nearest_gold = self._nearest(segment, place), self._nearest(segment[answers], place[answers])
        return [self._at(k, int((nearest < k).sum()), int((nearest_gold < k).sum())) for k in ks]

    def _at(self, k: int, segments: int, gold: int) -> Covered:
        segments_by_chance, gold_by_chance, most = self._nested_at(k) if self._nested else self._whole_at(k)
        return Covered(
            k,
            segments,
            _share(segments, self.segments),
            _share(segments_by_chance, self.segments),
            _share(most, self.segments),
            gold,
            _share(gold, self.gold),
            _share(gold_by_chance, self.gold),
        )

    def _whole_at(self, k: int) -> tuple[float, float, int]:
        """Return the segments and the gold that random orders show, and the most segments that any do."""
        shown = np.minimum(k, self._sizes)
        missed = 1.0 - shown / np.maximum(self._sizes, 1)
        by_chance = self._sizes * (1.0 - missed**self._questions)
        scope = np.searchsorted(self._first, self._gold, side="right") - 1
        gold_by_chance = 1.0 - missed[scope] ** self._answered
        most = int(np.minimum(self._sizes, shown * self._questions).sum())
        return float(by_chance.sum()), float(gold_by_chance.sum()), most

    def _nested_at(self, k: int) -> tuple[float, float, int]:
        """Return the same where each question sees its own part of the scope."""
        shown = np.minimum(k, self._candidates)
        missed = 1.0 - shown / np.maximum(self._candidates, 1)
        by_chance, most = 0.0, 0
        for scope, size in enumerate(self._sizes.tolist()):
            own = np.flatnonzero(self._scope == scope)
            own = own[np.argsort(self._candidates[own], kind="stable")]
            unseen = np.ones(size)
            reached = 0
            for question in own.tolist():
                # The first questions see least: whoever comes later can show what they left.
                reached = min(int(self._candidates[question]), reached + int(shown[question]))
                unseen[: self._candidates[question]] *= missed[question]
            by_chance, most = by_chance + float((1.0 - unseen).sum()), most + reached
        answered, gold = self._answering
        unreached = np.ones(self.gold)
        np.multiply.at(unreached, gold, missed[answered])
        return by_chance, float((1.0 - unreached).sum()), most

    def _listed(self, positions: Sequence[Collection[int]]) -> tuple[Ints, Ints, Ints]:
        """Return question, segment and place of each position; one outside its scope is no segment."""
        lengths = np.fromiter(map(len, positions), dtype=np.int64, count=len(positions))
        question = np.repeat(np.arange(len(positions)), lengths)
        place = np.arange(len(question)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        position = np.fromiter(chain.from_iterable(positions), dtype=np.int64, count=len(question))
        scope = self._scope[question]
        inside = (position >= 0) & (position < self._sizes[scope])
        return question[inside], (self._first[scope] + position)[inside], place[inside]

    def _nearest(self, segment: Ints, place: Ints) -> Ints:
        """Return by segment the best place that it came back at, from 0; the largest number where it never did."""
        nearest = np.full(self.segments, np.iinfo(np.int64).max)
        np.minimum.at(nearest, segment, place)
        return nearest


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None
