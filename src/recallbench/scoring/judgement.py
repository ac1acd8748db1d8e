"""Rankings held against gold: the arrays that every measure reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recallbench.errors import InputError, UsageError
from recallbench.scoring.matching import distinct

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_Positions = npt.NDArray[np.int32]

_CHUNK = 1 << 16
"""Judged segments compared at a time: bounds the memory, 13 MB at depth 50."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Q rankings of at most `depth` places each; row i of every array is question i."""

    depth: int
    relevant: Bools
    """(Q, depth): the segment at this place is gold."""
    grades: Floats
    """(Q, depth): its grade, 0 where it has none. Grades feed nDCG only: what is gold never follows from them."""
    returned: Ints
    """(Q,): distinct segments that came back, `depth` at most."""
    gold: Ints
    """(Q,): gold segments; 0 means the question is left out of every mean."""
    candidates: Ints
    """(Q,): segments of the haystack."""
    ideal: Floats
    """(Q, at most depth): the best grades there are, descending."""
    total_grade: Floats
    """(Q,): the sum of all grades of the haystack."""

    def __len__(self) -> int:
        return len(self.gold)

    @cached_property
    def _hits(self) -> npt.NDArray[np.int32]:
        return self.relevant.cumsum(axis=1, dtype=np.int32)

    def found(self, k: int) -> Ints:
        """Gold segments among the first k of each ranking."""
        self._reach(k)
        return self._hits[:, k - 1].astype(np.int64)

    def at(self, depth: int) -> Judged:
        """The same rankings, cut off at a smaller depth."""
        self._reach(depth)
        return Judged(
            depth,
            self.relevant[:, :depth],
            self.grades[:, :depth],
            np.minimum(self.returned, depth),
            self.gold,
            self.candidates,
            self.ideal[:, :depth],
            self.total_grade,
        )

    def select(self, mask: npt.ArrayLike) -> Judged:
        """The questions where the boolean mask holds: a kind, a named denominator."""
        keep: Bools = np.asarray(mask, dtype=np.bool_)
        if keep.shape != (len(self),):
            raise ValueError(f"a mask of shape {keep.shape} for {len(self)} questions")
        return Judged(
            self.depth,
            self.relevant[keep],
            self.grades[keep],
            self.returned[keep],
            self.gold[keep],
            self.candidates[keep],
            self.ideal[keep],
            self.total_grade[keep],
        )

    def _reach(self, k: int) -> None:
        if not 1 <= k <= self.depth:
            raise UsageError(
                f"a measure at depth {k} can't be taken from these rankings",
                expected=f"a depth from 1 to {self.depth}",
                found=str(k),
                remedy=f"retrieve {k} deep, or choose a measure at {self.depth} or less",
            )


def judge(
    rankings: Sequence[Sequence[int]],
    gold: Sequence[Collection[int]],
    candidates: Sequence[int],
    depth: int,
    grades: Sequence[Mapping[int, float]] | None = None,
) -> Judged:
    """Hold each ranking (haystack positions, best first) against the gold positions of its question.

    A repeated position counts once, at its first place; a ranking may be short or empty. A question without `grades`
    has grade 1 on each gold segment. Raises InputError, naming the question by its index, for a position outside its
    haystack and for a grade that is no number.
    """
    questions = len(rankings)
    for name, given in (("gold", gold), ("candidates", candidates), ("grades", grades)):
        if given is not None and len(given) != questions:
            raise ValueError(f"{questions} rankings but {len(given)} entries of {name}")
    if depth < 1:
        raise UsageError("rankings are judged to a depth", expected="1 or more", found=str(depth))
    gold_sets = [one if isinstance(one, (set, frozenset)) else _as_set(one) for one in gold]
    sizes = np.asarray(candidates, dtype=np.int64)
    places, returned = _places(rankings, sizes, depth)
    counts = _lengths(gold_sets)
    rows = np.repeat(np.arange(questions), counts)
    relevant = np.zeros((questions, depth), dtype=np.bool_)
    where = _locate(places, rows, _flat(gold_sets, counts, sizes, "gold"))
    relevant[where.row, where.place] = True
    cap = min(depth, int(counts.max(initial=0)))
    if grades is None or not any(grades):
        ideal = (np.arange(cap) < counts[:, None]).astype(np.float64)
        return Judged(
            depth, relevant, relevant.astype(np.float64), returned, counts, sizes, ideal, counts.astype(float)
        )
    table, ideal, total = _graded(places, gold_sets, grades, sizes, depth)
    return Judged(depth, relevant, table, returned, counts, sizes, ideal, total)


def _as_set(gold: Collection[int]) -> frozenset[int]:
    if isinstance(gold, Mapping):
        raise TypeError("gold is a set of positions; grades have a place of their own")
    return frozenset(gold)


def _lengths(rows: Iterable[Collection[int]]) -> Ints:
    return np.fromiter(map(len, rows), dtype=np.int64)


def _flat(rows: Iterable[Iterable[int]], lengths: Ints, sizes: Ints, what: str) -> _Positions:
    """All positions in one array; each must lie in its haystack, lest it match gold of another (clarification 2)."""
    positions = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(lengths.sum()))
    wrong = (positions < 0) | (positions >= np.repeat(sizes, lengths))
    if wrong.any():
        index = int(np.flatnonzero(wrong)[0])
        question = int(np.repeat(np.arange(len(lengths)), lengths)[index])
        raise InputError(
            f"the {what} of the question at index {question} names a segment outside its haystack",
            expected=f"positions 0 to {sizes[question] - 1}",
            found=str(positions[index]),
            remedy="check that gold, ranking and haystack belong to the same question",
        )
    return positions.astype(np.int32)


def _places(rankings: Sequence[Sequence[int]], sizes: Ints, depth: int) -> tuple[_Positions, Ints]:
    """Positions by question and place, -1 where nothing came back, and how many came back."""
    lengths = _lengths(rankings)
    width = int(lengths.max(initial=0))
    flat = _flat(rankings, lengths, sizes, "ranking")
    filled = np.arange(width) < lengths[:, None]
    table: _Positions = np.full((len(rankings), width), -1, dtype=np.int32)
    table[filled] = flat
    # Sorting whole rows finds the rare repetition faster than any bookkeeping; only rows that have one pay for it.
    ascending = np.sort(table, axis=1)
    twice = ((ascending[:, 1:] == ascending[:, :-1]) & (ascending[:, 1:] >= 0)).any(axis=1)
    for row in np.flatnonzero(twice).tolist():
        once = distinct(rankings[row])
        lengths[row] = len(once)
        table[row] = -1
        table[row, : len(once)] = once
    return table[:, :depth], np.minimum(lengths, depth)


class _Where(NamedTuple):
    which: npt.NDArray[np.int64]
    row: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]


def _locate(places: _Positions, rows: Ints, positions: _Positions) -> _Where:
    """For each judged segment that was returned: its index in `positions`, its question and its place."""
    found = []
    for start in range(0, len(rows), _CHUNK):
        part = slice(start, start + _CHUNK)
        which, place = np.nonzero(places[rows[part]] == positions[part, None])
        found.append((which + start, rows[part][which], place))
    if not found:
        none = np.empty(0, dtype=np.int64)
        return _Where(none, none, none)
    return _Where(*(np.concatenate(arrays) for arrays in zip(*found, strict=True)))


def _graded(
    places: _Positions, gold: Sequence[Collection[int]], grades: Sequence[Mapping[int, float]], sizes: Ints, depth: int
) -> tuple[Floats, Floats, Floats]:
    """The grade at each place, the best grades there are, and the sum of all, by question."""
    given = [graded or dict.fromkeys(golden, 1.0) for graded, golden in zip(grades, gold, strict=True)]
    lengths = _lengths(given)
    rows = np.repeat(np.arange(len(given)), lengths)
    values = np.fromiter(chain.from_iterable(one.values() for one in given), dtype=np.float64)
    wrong = ~(values >= 0) | np.isinf(values)
    if wrong.any():
        row = int(rows[wrong][0])
        raise InputError(
            f"the question at index {row} has a grade that is none",
            expected="finite, 0 or more",
            found=str(values[wrong][0]),
            remedy="correct the grades of this question",
        )
    where = _locate(places, rows, _flat(given, lengths, sizes, "grades"))
    table = np.zeros((len(given), depth))
    table[where.row, where.place] = values[where.which]
    descending = np.lexsort((-values, rows))
    rank = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    kept = rank < depth
    ideal = np.zeros((len(given), min(depth, int(lengths.max(initial=0)))))
    ideal[rows[kept], rank[kept]] = values[descending][kept]
    return table, ideal, np.bincount(rows, weights=values, minlength=len(given)).astype(np.float64)
