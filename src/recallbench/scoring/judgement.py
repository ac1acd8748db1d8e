"""Rankings judged against gold: the arrays that every measure reads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recallbench.errors import InputError, UsageError
from recallbench.scoring.matching import distinct

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_Positions = npt.NDArray[np.int32]

_CELLS = 1 << 22
"""Places of rankings in memory at a time: 17 MB for rankings of any depth."""


@dataclass(frozen=True, eq=False, slots=True)
class Places:
    """The places of Q rankings that have a grade, by question and place."""

    question: Ints
    place: Ints
    """From 0."""
    grade: Floats

    def sum(self, weights: Floats, questions: int) -> Floats:
        """(Q,): the sum of the grades at the first places, weighted; there are as many places as weights."""
        near = self.place < len(weights)
        # Not as a matrix product, whose last digits differ from one processor to the next.
        weighed = self.grade[near] * weights[self.place[near]]
        return np.bincount(self.question[near], weighed, questions).astype(np.float64)

    def count(self, k: int, questions: int) -> Ints:
        """(Q,): how many are among the first k."""
        return np.bincount(self.question[self.place < k], minlength=questions)

    def until(self, depth: int) -> Places:
        """Return those among the first `depth` places."""
        return self.where(self.place < depth)

    def select(self, keep: Bools) -> Places:
        """Return the places of the questions in the mask, which are renumbered."""
        chosen = self.where(keep[self.question])
        return Places((np.cumsum(keep) - 1)[chosen.question], chosen.place, chosen.grade)

    def where(self, mask: Bools) -> Places:
        """Return the places in the mask."""
        return Places(self.question[mask], self.place[mask], self.grade[mask])


@dataclass(frozen=True, eq=False)
class Judged:
    """The first `depth` places of Q rankings, judged; a field marked (Q,) has an entry for each question.

    Its size grows with the gold that came back, not with the depth.
    """

    depth: int
    relevant: Places
    """The places of gold segments, each with grade 1."""
    graded: Places
    """The places of segments with a grade. Grades are for nDCG only, and never decide what is gold."""
    returned: Ints
    """(Q,): distinct segments that came back, `depth` at most."""
    gold: Ints
    """(Q,): how much there is to find: all gold segments, or 1 where one is enough; 0 leaves the question out of every
    mean."""
    answering: Ints
    """(Q,): gold segments; more than `gold` where one of them is enough."""
    candidates: Ints
    """(Q,): segments of the haystack."""
    ideal: Places
    """The places of the best possible ranking; where one segment is enough, nDCG goes by the returned ones instead."""
    total_grade: Floats
    """(Q,): the sum of all grades of the haystack."""
    has_grades: Bools
    """(Q,): whether it has grades; else each gold segment has grade 1."""

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def one_enough(self) -> Bools:
        """(Q,): whether one of several gold segments is enough."""
        enough: Bools = self.answering > self.gold
        return enough

    @cached_property
    def first(self) -> Ints:
        """(Q,): the rank of the first gold segment, 0 where none came back."""
        ranks = np.zeros(len(self), dtype=np.int64)
        # Backwards, since the last assignment to a question stays.
        ranks[self.relevant.question[::-1]] = self.relevant.place[::-1] + 1
        return ranks

    def gold_within(self, k: int) -> Ints:
        """(Q,): gold segments among the first k of each ranking."""
        self._reach(k)
        return self.relevant.count(k, len(self))

    def at(self, depth: int) -> Judged:
        """Return the same rankings, cut off at a smaller depth."""
        self._reach(depth)
        return Judged(
            depth,
            self.relevant.until(depth),
            self.graded.until(depth),
            np.minimum(self.returned, depth),
            self.gold,
            self.answering,
            self.candidates,
            self.ideal.until(depth),
            self.total_grade,
            self.has_grades,
        )

    def select(self, mask: npt.ArrayLike) -> Judged:
        """Return the questions in the mask, as those of a kind or a denominator."""
        keep: Bools = np.asarray(mask, dtype=np.bool_)
        if keep.shape != (len(self),):
            raise ValueError(f"a mask of shape {keep.shape} for {len(self)} questions")
        relevant = self.relevant.select(keep)
        return Judged(
            self.depth,
            relevant,
            relevant if self.graded is self.relevant else self.graded.select(keep),
            self.returned[keep],
            self.gold[keep],
            self.answering[keep],
            self.candidates[keep],
            self.ideal.select(keep),
            self.total_grade[keep],
            self.has_grades[keep],
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
    one_find: Sequence[bool] | None = None,
    unseen: Sequence[int] | None = None,
) -> Judged:
    """Judge each ranking (haystack positions, best first) against the gold positions of its question.

    A repeated position counts once, at its first place; a ranking may be short or empty. A question without `grades`
    has grade 1 on each gold segment. Where `one_find` is true, one gold segment is enough: the first that comes back
    has found it, and each counts for precision and nDCG. `unseen` counts the gold segments that are in no ranking
    and have no position. Raises InputError, naming the question by its index,
    for a position outside its haystack and for a grade that is no number.
    """
    questions = len(rankings)
    for name, entries in (
        ("gold", gold),
        ("candidates", candidates),
        ("grades", grades),
        ("one_find", one_find),
        ("unseen", unseen),
    ):
        if entries is not None and len(entries) != questions:
            raise ValueError(f"{questions} rankings but {len(entries)} entries of {name}")
    if depth < 1:
        raise UsageError("rankings are judged to a depth", expected="1 or more", found=str(depth))
    gold_sets = [positions if isinstance(positions, (set, frozenset)) else _as_set(positions) for positions in gold]
    sizes = np.asarray(candidates, dtype=np.int64)
    counts = _lengths(gold_sets)
    golden = _Listed(counts, _flat(gold_sets, counts, sizes, "gold"), np.ones(int(counts.sum())))
    graded = golden
    if grades is not None and any(grades):
        graded = _graded(gold_sets, grades, sizes)
    listed = (golden,) if graded is golden else (golden, graded)
    returned, places = _located(rankings, sizes, depth, listed)
    others = np.zeros(questions, dtype=np.int64) if unseen is None else np.asarray(unseen, dtype=np.int64)
    answering = counts + others
    finds = answering if one_find is None else np.where(one_find, np.minimum(answering, 1), answering)
    total = graded.total() + others
    has_grades: Bools = np.array([bool(by_position) for by_position in grades or [{}] * questions], dtype=np.bool_)
    ideal = graded.best(depth)
    return Judged(depth, places[0], places[-1], returned, finds, answering, sizes, ideal, total, has_grades)


def reaching(calls: Sequence[Judged], k: int) -> Judged:
    """Return the shallowest call that reaches k (clarification 15), or the deepest where none does."""
    return next((call for call in calls if call.depth >= k), calls[-1])


def merged(parts: Sequence[tuple[Sequence[int], Judged]]) -> Judged:
    """Merge judgements of the same depth; each comes with the indices of its questions among all."""
    order = np.argsort(np.concatenate([np.asarray(among, dtype=np.int64) for among, _ in parts]))

    def gathered(pick: Callable[[Judged], Any]) -> Any:
        return np.concatenate([pick(judged) for _, judged in parts])[order]

    def places(pick: Callable[[Judged], Places]) -> Places:
        moved = [(np.asarray(among, dtype=np.int64), pick(part)) for among, part in parts]
        return _joined([Places(among[part.question], part.place, part.grade) for among, part in moved])

    return Judged(
        parts[0][1].depth,
        places(lambda judged: judged.relevant),
        places(lambda judged: judged.graded),
        gathered(lambda judged: judged.returned),
        gathered(lambda judged: judged.gold),
        gathered(lambda judged: judged.answering),
        gathered(lambda judged: judged.candidates),
        places(lambda judged: judged.ideal),
        gathered(lambda judged: judged.total_grade),
        gathered(lambda judged: judged.has_grades),
    )


def _as_set(gold: Collection[int]) -> frozenset[int]:
    if isinstance(gold, Mapping):
        raise TypeError("gold is a set of positions; grades are an argument of their own")
    return frozenset(gold)


def _lengths(rows: Iterable[Collection[int]]) -> Ints:
    return np.fromiter(map(len, rows), dtype=np.int64)


def _flat(rows: Iterable[Iterable[int]], lengths: Ints, sizes: Ints, what: str, first: int = 0) -> _Positions:
    """Return all positions in an array; each must lie in its haystack, lest it match gold of another (clarification 2).

    `first` is the index of the first of these questions among all.
    """
    positions = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(lengths.sum()))
    wrong = (positions < 0) | (positions >= np.repeat(sizes, lengths))
    if wrong.any():
        index = int(np.flatnonzero(wrong)[0])
        question = int(np.repeat(np.arange(len(lengths)), lengths)[index])
        raise InputError(
            f"the {what} of the question at index {first + question} names a segment outside its haystack",
            expected=f"positions 0 to {sizes[question] - 1}",
            found=str(positions[index]),
            remedy="check that gold, ranking and haystack belong to the same question",
        )
    return positions.astype(np.int32)


class _Listed(NamedTuple):
    """Judged segments of all questions in one list, question by question."""

    lengths: Ints
    """(Q,): how many each question has."""
    positions: _Positions
    grade: Floats

    @property
    def question(self) -> Ints:
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def best(self, depth: int) -> Places:
        """Return the grades of each question in descending order: the best possible ranking."""
        question = self.question
        descending = np.lexsort((-self.grade, question))
        place = np.arange(len(question)) - np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)
        return Places(question, place, self.grade[descending]).until(depth)

    def total(self) -> Floats:
        """(Q,): the sum of each question's grades."""
        return np.bincount(self.question, self.grade, len(self.lengths)).astype(np.float64)


def _located(
    rankings: Sequence[Sequence[int]], sizes: Ints, depth: int, listed: Sequence[_Listed]
) -> tuple[Ints, list[Places]]:
    """Return how many distinct segments came back by question, `depth` at most, and the places of the listed ones."""
    lengths = _lengths(rankings)
    located: list[list[Places]] = [[] for _ in listed]
    starts = [np.concatenate(([0], np.cumsum(segments.lengths))) for segments in listed]
    for first, last in _blocks(lengths):
        block = slice(first, last)
        flat = _flat(rankings[block], lengths[block], sizes[block], "ranking", first)
        table = _table(rankings[block], flat, lengths[block])[:, :depth]
        for segments, start, parts in zip(listed, starts, located, strict=True):
            rows = np.repeat(np.arange(last - first), segments.lengths[block])
            part = slice(int(start[first]), int(start[last]))
            which, place = _locate(table, rows, segments.positions[part])
            parts.append(Places(rows[which] + first, place, segments.grade[part][which]))
    return np.minimum(lengths, depth), [_joined(parts) for parts in located]


def _blocks(lengths: Ints) -> Iterator[tuple[int, int]]:
    """Yield blocks of questions whose rankings, as a table, have at most `_CELLS` cells; at least one ranking each."""
    first, width = 0, 0
    if len(lengths) * int(lengths.max(initial=0)) <= _CELLS:
        yield 0, len(lengths)
        return
    for number, length in enumerate(lengths.tolist()):
        wider = max(width, length)
        if number > first and (number + 1 - first) * wider > _CELLS:
            yield first, number
            first, wider = number, length
        width = wider
    yield first, len(lengths)


def _table(rankings: Sequence[Sequence[int]], flat: _Positions, lengths: Ints) -> _Positions:
    """Return positions by question and place, -1 where nothing came back; changes `lengths` to count distinct ones."""
    filled = np.arange(int(lengths.max(initial=0))) < lengths[:, None]
    table: _Positions = np.full(filled.shape, -1, dtype=np.int32)
    table[filled] = flat
    # Sorting finds the rare rows with a repetition fastest; only these are done one by one.
    ascending = np.sort(table, axis=1)
    twice = ((ascending[:, 1:] == ascending[:, :-1]) & (ascending[:, 1:] >= 0)).any(axis=1)
    for row in np.flatnonzero(twice).tolist():
        once = distinct(rankings[row])
        lengths[row] = len(once)
        table[row] = -1
        table[row, : len(once)] = once
    return table


def _locate(table: _Positions, rows: Ints, positions: _Positions) -> tuple[Ints, Ints]:
    """Return the index of each position that its row of the table has, and its place there."""
    step = max(1, _CELLS // max(1, table.shape[1]))
    matches = [
        np.nonzero(table[rows[start : start + step]] == positions[start : start + step, None])
        for start in range(0, len(rows), step)
    ]
    if not matches:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    return (
        np.concatenate([which + number * step for number, (which, _) in enumerate(matches)]),
        np.concatenate([place for _, place in matches]),
    )


def _joined(parts: Sequence[Places]) -> Places:
    columns = zip(*((part.question, part.place, part.grade) for part in parts), strict=True)
    question, place, grade = (np.concatenate(column) for column in columns)
    order = np.lexsort((place, question))
    return Places(question[order], place[order], grade[order])


def _graded(gold: Sequence[Collection[int]], grades: Sequence[Mapping[int, float]], sizes: Ints) -> _Listed:
    """Return every segment with a grade; for a question without grades its gold, each with 1."""
    by_question = [graded or dict.fromkeys(golden, 1.0) for graded, golden in zip(grades, gold, strict=True)]
    lengths = _lengths(by_question)
    values = np.fromiter(chain.from_iterable(by_position.values() for by_position in by_question), dtype=np.float64)
    wrong = ~(values >= 0) | np.isinf(values)
    if wrong.any():
        row = int(np.repeat(np.arange(len(by_question)), lengths)[wrong][0])
        raise InputError(
            f"the question at index {row} has an invalid grade",
            expected="finite, 0 or more",
            found=str(values[wrong][0]),
            remedy="correct the grades of this question",
        )
    return _Listed(lengths, _flat(by_question, lengths, sizes, "grades"), values)
