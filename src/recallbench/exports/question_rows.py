"""The rows of the questions of a result: ranks and values, and no text of the corpus."""

from __future__ import annotations

from collections.abc import Iterator

from recallbench.exports.forms import QUESTIONS, VALUES
from recallbench.exports.table_form import Row
from recallbench.results.metrics import OVERALL
from recallbench.results.rankings import Rankings
from recallbench.results.result import Result
from recallbench.scoring.measures.registry import parse


def question_tables(result: Result) -> dict[str, list[Row]]:
    """Return the rows of the questions, by table; raises InputError where the rankings do not give the figures."""
    id, rankings = result.manifest_sha256, result.rankings
    measures = [estimate.measure for estimate in result.metrics.estimates.get(OVERALL, [])]
    return {
        QUESTIONS.name: list(_questions(id, rankings)),
        VALUES.name: [row for measure in measures for row in _values(id, rankings, measure)],
    }


def _questions(id: str, rankings: Rankings) -> Iterator[Row]:
    deepest = rankings.calls[-1]
    for i, question in enumerate(rankings.questions):
        gold, hits = set(rankings.gold_ids[i]), rankings.hit_ids[-1][i]
        # A segment that came back twice counts at its first place.
        ranks = sorted({hit: rank for rank, hit in reversed(list(enumerate(hits, 1))) if hit in gold}.values())
        yield {
            "result": id,
            "question": question,
            "kind": rankings.kinds[i],
            "tenant": rankings.tenants[i],
            "cluster": rankings.clusters[i],
            "abstention": rankings.abstention[i],
            "candidates": int(deepest.candidates[i]),
            "gold": len(gold),
            "returned": len(hits),
            "first_rank": ranks[0] if ranks else None,
            "gold_ranks": ranks,
        }


def _values(id: str, rankings: Rankings, name: str) -> Iterator[Row]:
    measure = parse(name)
    counted = rankings.counted(measure).tolist()
    for question, value, counts in zip(rankings.questions, rankings.values(measure).tolist(), counted, strict=True):
        if counts:
            yield {"result": id, "question": question, "measure": name, "value": value}
