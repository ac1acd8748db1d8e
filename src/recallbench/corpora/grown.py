"""Haystacks with more hay: documents that answer nothing here, drawn from elsewhere, behind those that were there."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from recallbench.corpora.records import Haystack, Segment


def room(haystacks: Sequence[Haystack], strangers: Sequence[Segment]) -> int:
    """The largest factor that every haystack can grow by."""
    held = [len(haystack.segments) for haystack in haystacks]
    if strangers:
        return 1 + len(strangers) // max(held)
    return min(sum(held) // size for size in held)


def grown(haystacks: Sequence[Haystack], factor: int, strangers: Sequence[Segment], seed: int) -> Iterator[Haystack]:
    """Each haystack at `factor` times its size; what it held keeps its place, so gold stays what it is.

    The additions are drawn without repetition: from `strangers`, where there are any, else from the other haystacks.
    `factor` is at most what there is room for.
    """
    hay = list(strangers) or [segment for haystack in haystacks for segment in haystack.segments]
    ends = list(accumulate(len(haystack.segments) for haystack in haystacks))
    for i, haystack in enumerate(haystacks):
        size = len(haystack.segments)
        wanted = (factor - 1) * size
        # The haystack's own lie in one run of the list: drawing passes over it.
        own = range(0) if strangers else range(ends[i] - size, ends[i])
        drawn = random.Random(f"{seed}/{haystack.scope}").sample(range(len(hay) - len(own)), wanted)
        added = (hay[at if at < own.start or not own else at + len(own)] for at in drawn)
        more = tuple(
            replace(segment, scope=haystack.scope, position=size + place, gold_turns=())
            for place, segment in enumerate(added)
        )
        yield replace(haystack, segments=haystack.segments + more)
