"""The rankings of a finished result, read back from its folder and judged again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recallbench.errors import InputError
from recallbench.results.metrics import OVERALL, Metrics
from recallbench.scoring.judgement import Floats, Judged, judge
from recallbench.scoring.measures.measure import Measure

NAME = "raw_retrievals.jsonl"
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
        return measure.values(next((call for call in self.calls if call.depth >= measure.k), self.calls[-1]))


def read(folder: Path, metrics: Metrics, primary: Sequence[Measure]) -> Rankings:
    """The rankings; raises InputError where they are not what the folder's own figures were made from."""
    rows = list(_rows(folder / NAME))
    depth, k = metrics.retrieval.depth, metrics.retrieval.calls[0]
    gold = [frozenset(_positions(row, row["gold"])) for row in rows]
    candidates = [int(row["candidates"]) for row in rows]
    grades = [{_position(row, id): float(grade) for id, grade in dict(row.get("grades", {})).items()} for row in rows]

    def judged(field: str, reach: int) -> Judged:
        hits = [_positions(row, [hit["id"] for hit in row[field]]) for row in rows]
        return judge(hits, gold, candidates, reach, grades if any(grades) else None)

    calls = [judged("hits", depth)]
    if len(metrics.retrieval.calls) > 1:
        calls.insert(0, judged("hits_of_k_call", k))
    read_back = Rankings(
        folder.name,
        tuple(str(row["question_id"]) for row in rows),
        tuple(str(row["cluster"]) for row in rows),
        tuple(gold),
        tuple(calls),
    )
    stated = {one.measure: one.value for one in metrics.estimates[OVERALL]}
    for measure in primary:
        wanted, values = stated.get(str(measure)), read_back.values(measure)[calls[0].gold > 0]
        found = float(values.mean()) if len(values) else None
        if (wanted is None) != (found is None) or abs((wanted or 0.0) - (found or 0.0)) > _ROUNDING:
            raise InputError(
                f"{folder.name}: the rankings do not give the figures",
                expected=f"{measure} {wanted}",
                found=f"{found} from {NAME}",
                remedy="make the result again with `recallbench run`",
            )
    return read_back


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path.parent.name}/{path.name} can't be read",
            expected="a JSON object per line, as `recallbench run` writes them",
            found=str(error),
            remedy="make the result again with `recallbench run`",
        ) from error


def _positions(row: Mapping[str, Any], ids: Sequence[str]) -> list[int]:
    return [_position(row, id) for id in ids]


def _position(row: Mapping[str, Any], id: str) -> int:
    scope, slash, position = id.rpartition("/")
    if not slash or scope != row["scope"] or not position.isdigit():
        raise InputError(
            f"question {row['question_id']}: a segment of another scope",
            expected=f"{row['scope']}/<position>",
            found=id,
            remedy="make the result again with `recallbench run`",
        )
    return int(position)
