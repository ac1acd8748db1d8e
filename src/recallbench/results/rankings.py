"""The rankings of a finished result, read back from its folder and judged again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recallbench.errors import InputError
from recallbench.results.metrics import OVERALL, Metrics
from recallbench.results.rows import NAME, HitRow, Row, position_of, read_rows
from recallbench.scoring.judgement import Bools, Floats, Judged, judge
from recallbench.scoring.measures.measure import Measure

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Rankings:
    """What a result was asked and what it answered."""

    place: str
    """The folder's name."""
    questions: tuple[str, ...]
    clusters: tuple[str, ...]
    gold: tuple[frozenset[int], ...]
    calls: tuple[Judged, ...]
    """By depth, shallowest first."""

    def values(self, measure: Measure) -> Floats:
        """What each question gets, from the shallowest call that reaches the measure (clarification 15)."""
        return measure.values(self._reaching(measure))

    def counted(self, measure: Measure) -> Bools:
        """The questions that the measure's mean is over."""
        return measure.counted(self._reaching(measure))

    def mean(self, measure: Measure, keep: Bools) -> float:
        """Over those of these questions that it counts."""
        return float(self.values(measure)[keep & self.counted(measure)].mean())

    def _reaching(self, measure: Measure) -> Judged:
        return next((call for call in self.calls if call.depth >= measure.k), self.calls[-1])


def read(folder: Path, metrics: Metrics, primary: Sequence[Measure]) -> Rankings:
    """The rankings; raises InputError where they are not what the folder's own figures were made from."""
    rows = read_rows(folder)
    depth, k = metrics.retrieval.depth, metrics.retrieval.calls[0]
    gold = [frozenset(_position(row, id) for id in row.gold) for row in rows]
    candidates = [row.candidates for row in rows]
    one_find = [row.one_find for row in rows]
    grades = [{_position(row, id): grade for id, grade in row.grades.items()} for row in rows]

    def judged(hits: Sequence[Sequence[HitRow]], reach: int) -> Judged:
        ranked = [[_position(row, hit.id) for hit in found] for row, found in zip(rows, hits, strict=True)]
        return judge(ranked, gold, candidates, reach, grades if any(grades) else None, one_find)

    calls = [judged([row.hits for row in rows], depth)]
    if len(metrics.retrieval.calls) > 1:
        calls.insert(0, judged([row.hits_of_k_call or [] for row in rows], k))
    read_back = Rankings(
        folder.name,
        tuple(row.question_id for row in rows),
        tuple(row.cluster for row in rows),
        tuple(gold),
        tuple(calls),
    )
    stated = {one.measure: one.value for one in metrics.estimates[OVERALL]}
    for measure in primary:
        wanted, values = stated.get(str(measure)), read_back.values(measure)[read_back.counted(measure)]
        found = float(values.mean()) if len(values) else None
        if (wanted is None) != (found is None) or abs((wanted or 0.0) - (found or 0.0)) > _ROUNDING:
            raise InputError(
                f"{folder.name}: the rankings do not give the figures",
                expected=f"{measure} {wanted}",
                found=f"{found} from {NAME}",
                remedy="make the result again with `recallbench run`",
            )
    return read_back


def _position(row: Row, id: str) -> int:
    position = position_of(id, row.scope, row.candidates)
    if position is None:
        raise InputError(
            f"question {row.question_id}: a segment of another scope",
            expected=f"{row.scope}/<position>, of {row.candidates}",
            found=id,
            remedy="make the result again with `recallbench run`",
        )
    return position
