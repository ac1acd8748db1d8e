"""How often a store was asked each question, and that it scored alike both times."""

import math
from collections.abc import Iterator

from recallbench.stores.store import Store
from recallbench.verdict.case import Case
from recallbench.verdict.declared import declared_store, recorded_options
from recallbench.verdict.examination import Examination, listed
from recallbench.verdict.gate import Finding

RELATIVE, ABSOLUTE = 1e-6, 1e-9
"""A server may add the same numbers in another order."""


def calls(case: Case) -> Finding:
    kind, stated = declared_store(case), case.metrics.retrieval
    k = case.rules.default_k
    declared = [stated.depth] if kind.prefix_stable else [k, stated.depth]
    found = (
        []
        if stated.calls == declared
        else [f"calls for {stated.calls} hits, {case.metrics.store.name} is asked for {declared}"]
    )
    found += _apart(case, kind, k)
    return listed(found, f"a call for each of {declared} hits, as the store declares it")


def _apart(case: Case, kind: type[Store], k: int) -> Iterator[str]:
    """Segments that got one score in the call for k hits, and another one in the deep call."""
    options = recorded_options(case)
    for row in case.readable_rows:
        if row.hits_of_k_call is None or not kind.scores_alike(row.candidates, k, options):
            continue
        deep = {hit.id: hit.score for hit in row.hits}
        for hit in row.hits_of_k_call:
            other = deep.get(hit.id, hit.score)
            if not math.isclose(hit.score, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
                yield f"{row.question_id}: {hit.id} with {hit.score} in the call for {k}, with {other} in the other"
                break


CALLS = Examination("RB-CALLS", "calls", "the calls that the store declares, with one score for a segment", calls)
