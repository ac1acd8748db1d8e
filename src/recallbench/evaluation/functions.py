"""The four classic measures of one ranking, as plain functions. Means over cases are `evaluate`'s business."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from recallbench.errors import UsageError
from recallbench.evaluation.answer import checked
from recallbench.evaluation.case import Case
from recallbench.evaluation.judging import depth_of, judged_by_id
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.ndcg import Ndcg
from recallbench.scoring.measures.precision import Precision
from recallbench.scoring.measures.recall_frac import RecallFrac

Ranked = Iterable[Any]
Relevant = Collection[Any] | Mapping[Any, float]


def precision(ranked: Ranked, relevant: Relevant, k: int = 10) -> float:
    """`precision@k`: relevant ids in the top k, divided by k, however few came back."""
    return _value(Precision(depth_of(k)), ranked, relevant)


def recall(ranked: Ranked, relevant: Relevant, k: int = 10) -> float:
    """`recall_frac@k`: the share of the relevant ids that is in the top k."""
    return _value(RecallFrac(depth_of(k)), ranked, relevant)


def ndcg(ranked: Ranked, relevant: Relevant, k: int = 10, grades: Mapping[Any, float] | None = None) -> float:
    """`ndcg@k`: linear gain over log2(rank + 1), ideal from the grades; without grades each relevant id has 1.

    `relevant` may itself map ids to grades, of which those above 0 are relevant.
    """
    return _value(Ndcg(depth_of(k)), ranked, relevant, grades)


def mrr(ranked: Ranked, relevant: Relevant, k: int | None = None) -> float:
    """`mrr@k`: 1 / rank of the first relevant id, 0 when it is not in the top k; without k in the whole ranking."""
    hits = list(ranked) if isinstance(ranked, Iterable) and not isinstance(ranked, (str, bytes, Mapping)) else ranked
    depth = max(1, len(hits)) if k is None and isinstance(hits, list) else 1 if k is None else depth_of(k)
    return _value(Mrr(depth), hits, relevant)


def _value(measure: Measure, ranked: Any, relevant: Relevant, grades: Mapping[Any, float] | None = None) -> float:
    case = Case("this ranking", relevant, grades)
    if not case.relevant:
        raise UsageError(f"{measure} needs something to find", expected="a relevant id or more", found="none")
    answer = checked(case, ranked)
    return float(measure.values(judged_by_id([case], [answer], max(measure.k, len(answer.ids)), None))[0])
