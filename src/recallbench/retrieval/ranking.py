"""A ranking, and the one rule of its order."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from recallbench.errors import InputError
from recallbench.stores.store import Hit


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a store returned for one question: haystack positions, best first, and their scores."""

    question_id: str
    positions: tuple[int, ...]
    scores: tuple[float, ...]


def order(hits: Iterable[Hit]) -> list[Hit]:
    """Score descending, then id ascending; a repeated id keeps its first place only.

    Ids grow with the haystack position, so equal scores fall into haystack order whatever the store did with them.
    """
    ordered = sorted(hits, key=lambda hit: (-hit[1], hit[0]))
    seen = {hit[0] for hit in ordered}
    if len(seen) == len(ordered):
        return ordered
    first: dict[int, Hit] = {}
    for hit in ordered:
        first.setdefault(hit[0], hit)
    return list(first.values())


def ranking(question_id: str, hits: list[Hit], first_id: int, size: int, k: int, store: str) -> Ranking:
    """The hits of one question in ranking order; refuses what no haystack of `size` items from `first_id` can give."""
    if len(hits) > k:
        raise InputError(
            f"store {store} broke its contract on question {question_id}",
            expected=f"at most {k} hits",
            found=f"{len(hits)} hits",
            remedy="return the k best hits only",
        )
    kept = order(hits)
    positions = tuple(hit[0] - first_id for hit in kept)
    scores = tuple(float(hit[1]) for hit in kept)
    for position, score in zip(positions, scores, strict=True):
        if not 0 <= position < size:
            raise InputError(
                f"store {store} answered question {question_id} with an item of another scope",
                expected=f"ids {first_id} to {first_id + size - 1}",
                found=f"id {first_id + position}",
                remedy="search the scope of the query only",
            )
        if not math.isfinite(score):
            raise InputError(
                f"store {store} scored an item of question {question_id} with {score}",
                expected="a finite score",
                found=str(score),
                remedy="check the vectors and the store's scoring for NaN and infinity",
            )
    return Ranking(question_id, positions, scores)
