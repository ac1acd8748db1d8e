"""Haystacks with distractors: documents that answer nothing here, drawn from elsewhere and put at the end."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from recallbench.corpora.records import Haystack, Segment


@dataclass(frozen=True, slots=True)
class Distractors:
    """The segments that haystacks may grow by."""

    haystacks: Sequence[Haystack]
    documents: Sequence[Segment] = ()
    """Documents of no haystack; without any, each grows by the other haystacks'."""
    answers: Mapping[str, Collection[int]] = field(default_factory=dict)
    """By scope, the places in `segments` of those that would answer a question there: no distractors for that scope."""

    @property
    def segments(self) -> list[Segment]:
        """All segments to draw from, before a haystack's own and those that answer it are left out."""
        return list(self.documents) or [segment for haystack in self.haystacks for segment in haystack.segments]

    def copies(self) -> dict[str, set[int]]:
        """By scope, the places of documents from elsewhere with the text of one that answers a question there.

        Blanks apart, they are the same text under another id. As distractors they would count against a store that
        finds them.
        """
        places: dict[str, list[int]] = {}
        for place, segment in enumerate(self.segments):
            places.setdefault(_folded(segment), []).append(place)
        copies: dict[str, set[int]] = {}
        for haystack, own in zip(self.haystacks, self._own_places(), strict=True):
            gold = frozenset().union(*(question.gold for question in haystack.questions))
            gold_texts = {_folded(segment) for segment in haystack.segments if segment.position in gold}
            copied = {place for text in gold_texts for place in places.get(text, ()) if place not in own}
            if copied:
                copies[haystack.scope] = copied
        return copies

    def largest_factor(self) -> int:
        """The largest factor that every haystack can grow by."""
        return 1 + min(
            len(free) // len(haystack.segments)
            for haystack, free in zip(self.haystacks, self._free_places(), strict=True)
        )  # fmt: skip

    def grown(self, factor: int, seed: int) -> Iterator[Haystack]:
        """Yield each haystack at `factor` times its size; its own segments keep their places, so gold stays the same.

        The additions are drawn without repetition. `factor` is at most `largest_factor()`.
        """
        pool = self.segments
        for haystack, free in zip(self.haystacks, self._free_places(), strict=True):
            size = len(haystack.segments)
            drawn = random.Random(f"{seed}/{haystack.scope}").sample(range(len(free)), (factor - 1) * size)
            more = tuple(
                replace(pool[free[at]], scope=haystack.scope, position=size + place, gold_turns=())
                for place, at in enumerate(drawn)
            )
            yield replace(haystack, segments=haystack.segments + more)

    def _free_places(self) -> Iterator[npt.NDArray[np.int64]]:
        """Yield the places that may be drawn, haystack by haystack."""
        places = np.arange(len(self.segments))
        for haystack, own in zip(self.haystacks, self._own_places(), strict=True):
            used = {*own, *self.answers.get(haystack.scope, ())}
            yield np.delete(places, sorted(used))

    def _own_places(self) -> Iterator[range]:
        """Yield the places of its own segments, haystack by haystack."""
        for haystack, end in zip(
            self.haystacks, accumulate(len(haystack.segments) for haystack in self.haystacks), strict=True
        ):
            yield range(0) if self.documents else range(end - len(haystack.segments), end)


def _folded(segment: Segment) -> str:
    return " ".join(segment.text.split())
