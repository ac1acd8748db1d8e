"""The four classic measures of one ranking, as plain functions. Means over cases are `evaluate`'s business.

A list or tuple is checked as a whole; of an iterator, which may never end, only what decides the value is read. Where
nothing is relevant each raises an error, or gives `empty`, as `recall(ranked, [], empty=0.0)`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sized
from itertools import islice
from typing import Any

from recallbench.cases.answer import check_answer
from recallbench.cases.case import Case
from recallbench.cases.definitions import Definitions, PrecisionOver
from recallbench.cases.judging import judge_by_id
from recallbench.errors import UsageError
from recallbench.scoring.depth import depth_of
from recallbench.scoring.judgement import Judged
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.mrr import Mrr, reciprocal_rank
from recallbench.scoring.measures.ndcg import Ndcg
from recallbench.scoring.measures.recall_frac import RecallFrac

Ranked = Iterable[Any]
Relevant = Collection[Any] | Mapping[Any, float]
MOST = 1_000_000
"""Hits of an iterator that are read, at most, in search of a relevant one."""


def precision(
    ranked: Ranked,
    relevant: Relevant,
    k: int = 10,
    *,
    precision: PrecisionOver = "k",
    empty: float | None = None,
) -> float:
    """`precision@k`: relevant ids in the top k, divided by k, however few came back.

    With precision="retrieved" it is `precision@k(retrieved)`, divided by what came back, k at most.
    """
    measure = Definitions(precision=precision).measure("precision", depth_of(k))
    return _value(measure, ranked, relevant, empty)


def recall(ranked: Ranked, relevant: Relevant, k: int = 10, *, empty: float | None = None) -> float:
    """`recall_frac@k`: the share of the relevant ids that is in the top k."""
    return _value(RecallFrac(depth_of(k)), ranked, relevant, empty)


def ndcg(
    ranked: Ranked,
    relevant: Relevant,
    k: int = 10,
    grades: Mapping[Any, float] | None = None,
    *,
    empty: float | None = None,
) -> float:
    """`ndcg@k`: linear gain over log2(rank + 1), ideal from the grades; without grades each relevant id has 1.

    `relevant` may itself map ids to grades, of which those above 0 are relevant.
    """
    return _value(Ndcg(depth_of(k)), ranked, relevant, empty, grades)


def mrr(ranked: Ranked, relevant: Relevant, k: int | None = None, *, empty: float | None = None) -> float:
    """`mrr@k`: 1 / rank of the first relevant id, 0 when it is not in the top k; without k in the whole ranking.

    Without k an iterator is read up to its first relevant id, and refused where there is none among a million.
    """
    if k is not None:
        return _value(Mrr(depth_of(k)), ranked, relevant, empty)
    case = _case(relevant, None, empty)
    if not case.relevant:
        return _empty_value("mrr", empty)
    hits = list(_until_relevant(case, ranked)) if _may_not_end(ranked) else ranked
    return float(reciprocal_rank(_judged(case, hits, 1))[0])


def _until_relevant(case: Case, ranked: Ranked) -> Iterator[Any]:
    relevant = frozenset(case.relevant)
    for place, hit in enumerate(ranked):
        if place == MOST:
            raise case.wrong(
                "an iterator without k",
                f"a relevant id among the first {MOST:,} hits, or the end",
                "neither",
                "give k, or a list",
            )
        yield hit
        if any(_is_among(id, relevant) for id in (hit, *(hit if isinstance(hit, (tuple, list)) else ())[:1])):
            return


def _is_among(id: Any, relevant: frozenset[Any]) -> bool:
    try:
        return id in relevant
    except TypeError:  # no id, as a list is none: refused with the others
        return False


def _may_not_end(ranked: Any) -> bool:
    return isinstance(ranked, Iterable) and not isinstance(ranked, (Sized, str, bytes))


def _value(
    measure: Measure, ranked: Any, relevant: Relevant, empty: float | None, grades: Mapping[Any, float] | None = None
) -> float:
    case = _case(relevant, grades, empty)
    if not case.relevant:
        return _empty_value(str(measure), empty)
    hits = list(islice(ranked, measure.k)) if _may_not_end(ranked) else ranked
    return float(measure.values(_judged(case, hits, measure.k))[0])


def _case(relevant: Relevant, grades: Mapping[Any, float] | None, empty: float | None) -> Case:
    """Return the case. With `empty` it may have nothing to find: an expected text stands in for the ids."""
    if empty is None:
        return Case("this ranking", relevant, grades)
    if isinstance(empty, bool) or not isinstance(empty, (int, float)) or not 0 <= empty <= 1:
        raise UsageError("what counts where nothing is relevant", expected="a number from 0 to 1", found=repr(empty))
    return Case("this ranking", relevant, grades, expected="anything")


def _empty_value(measure: str, empty: float | None) -> float:
    if empty is None:
        raise UsageError(f"{measure} needs something to find", expected="a relevant id or more", found="none")
    return float(empty)


def _judged(case: Case, ranked: Any, k: int) -> Judged:
    """Return the judgement of the whole ranking, to depth k at least."""
    answer = check_answer(case, ranked)
    return judge_by_id([case], [answer], max(k, len(answer.ids)), None)
