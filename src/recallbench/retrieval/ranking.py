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
    keys = [(-score, id) for id, score in hits]
    keys.sort()
    if len({id for _, id in keys}) == len(keys):
        return [Hit(id, -score) for score, id in keys]
    first: dict[int, float] = {}
    for score, id in keys:
        first.setdefault(id, -score)
    return [Hit(id, score) for id, score in first.items()]


def ranking(question_id: str, hits: list[Hit], first_id: int, size: int, k: int, store: str) -> Ranking:
    """The hits of one question in ranking order; refuses what no haystack of `size` items from `first_id` can give."""
    if len(hits) > k:
        raise InputError(
            f"store {store} broke its contract on question {question_id}",
            expected=f"at most {k} hits",
            found=f"{len(hits)} hits",
            remedy="return the k best hits only",
        )
    # One sum tells whether any score is NaN or infinite, and the extremes whether any id is from elsewhere.
    if not math.isfinite(sum(score for _, score in hits)):
        wrong = next((score for _, score in hits if not math.isfinite(score)), math.inf)
        raise InputError(
            f"store {store} scored an item of question {question_id} with {wrong}",
            expected="a finite score",
            found=str(wrong),
            remedy="check the vectors and the store's scoring for NaN and infinity",
        )
    ids, scores = zip(*order(hits), strict=True) if hits else ((), ())
    stray = next((id for id in (min(ids), max(ids)) if not first_id <= id < first_id + size), None) if ids else None
    if stray is not None:
        raise InputError(
            f"store {store} answered question {question_id} with an item of another scope",
            expected=f"ids {first_id} to {first_id + size - 1}",
            found=f"id {stray}",
            remedy="search the scope of the query only",
        )
    return Ranking(question_id, tuple([id - first_id for id in ids]), scores)
