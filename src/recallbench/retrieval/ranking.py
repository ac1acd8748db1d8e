"""A ranking, and the one rule of its order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import gt, neg
from struct import pack, unpack

from recallbench.errors import InputError
from recallbench.stores.promises import Breach, find_breach
from recallbench.stores.store import Hit


class Ranking:
    """The ranking of one question: haystack positions, best first, and their scores.

    It holds them in 12 bytes a hit; as numbers of their own they would take four times as much, for all of a run.
    """

    __slots__ = ("_positions", "_scores", "question_id")

    def __init__(self, question_id: str, positions: Sequence[int], scores: Sequence[float]) -> None:
        self.question_id = question_id
        self._positions = pack(f"{len(positions)}i", *positions)
        self._scores = pack(f"{len(scores)}d", *scores)

    @property
    def positions(self) -> tuple[int, ...]:
        return unpack(f"{len(self._positions) // 4}i", self._positions)

    @property
    def scores(self) -> tuple[float, ...]:
        return unpack(f"{len(self._scores) // 8}d", self._scores)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ranking) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"Ranking({self.question_id!r}, {self.positions}, {self.scores})"

    def _parts(self) -> tuple[str, bytes, bytes]:
        return self.question_id, self._positions, self._scores


class FromTheFuture(InputError):
    """A store returned what was said only after the question: whatever else is to go on, that ends a run."""

    def __init__(self, question_id: str, problem: str, *, expected: str, found: str, remedy: str) -> None:
        self.question_id = question_id
        super().__init__(problem, expected=expected, found=found, remedy=remedy)


RELATIVE, ABSOLUTE = 1e-6, 1e-9
"""A server may add the same numbers in another order."""


def find_unequal_score(first: Ranking, second: Ranking) -> tuple[int, float, float] | None:
    """The first position that stands in both with two scores; None where each has one."""
    scores = dict(zip(second.positions, second.scores, strict=True))
    for position, score in zip(first.positions, first.scores, strict=True):
        again = scores.get(position, score)
        if not math.isclose(score, again, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            return position, score, again
    return None


def sort_hits(hits: Sequence[tuple[int, float]]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Ids and scores by score descending, then id ascending; a repeated id keeps its first place only.

    Ids grow with the haystack position, so equal scores fall into haystack order whatever the store did with them.
    """
    ids, scores = zip(*hits, strict=True) if hits else ((), ())
    return _sorted(ids, scores)


def _sorted(ids: Sequence[int], scores: Sequence[float]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    if all(map(gt, scores, scores[1:])) and len(set(ids)) == len(ids):
        return tuple(ids), tuple(scores)  # what most stores return: in order already, without ties or repeats
    first: dict[int, float] = {}
    for score, id in sorted(zip(map(neg, scores), ids, strict=True)):
        first.setdefault(id, -score)
    return tuple(first), tuple(first.values())


def rank_hits(
    question_id: str, hits: Sequence[Hit], first_id: int, size: int, k: int, store: str, visible: int | None = None
) -> Ranking:
    """Return the hits of one question in ranking order; refuses hits outside the `size` items from `first_id`.

    Only the first `visible` of them were there when it was asked; None for all.
    """
    ids, scores = zip(*hits, strict=True) if hits else ((), ())
    known = range(first_id, first_id + (size if visible is None else visible))
    breach = find_breach(ids, scores, k=k, known=known, ordered=False, repeats=True)
    if breach:
        raise _refusal(breach, question_id, hits, range(first_id, first_id + size), known, k, store)
    ids, scores = _sorted(ids, scores)
    return Ranking(question_id, [id - first_id for id in ids], scores)


def _refusal(
    breach: Breach, question_id: str, hits: Sequence[Hit], scope: range, visible: range, k: int, store: str
) -> InputError:
    id, score = hits[breach.place]
    if breach.promise == "at most k hits":
        return InputError(
            f"store {store} broke its contract on question {question_id}",
            expected=f"at most {k} hits",
            found=f"{len(hits)} hits",
            remedy="return the k best hits only",
        )
    if breach.promise == "finite scores":
        return InputError(
            f"store {store} scored an item of question {question_id} with {score}",
            expected="a finite score",
            found=str(score),
            remedy="check the vectors and the store's scoring for NaN and infinity",
        )
    if id in scope:
        return FromTheFuture(
            question_id,
            f"store {store} answered question {question_id} with an item from its future",
            expected=f"ids {visible.start} to {visible.stop - 1}: what was there when it was asked",
            found=f"id {id}, {id - visible.stop + 1} behind the last of these",
            remedy="search nothing but the query's `visible` items, or do not declare that the store filters by time",
        )
    return InputError(
        f"store {store} answered question {question_id} with an item of another scope",
        expected=f"ids {scope.start} to {scope.stop - 1}",
        found=f"id {id}",
        remedy="search the scope of the query only",
    )
