"""The failures on a page are those of the call that the headline counts."""

from __future__ import annotations

from recallbench.reports.result_page import _failed
from recallbench.results.rankings import Rankings
from recallbench.scoring.judgement import judge


def test_a_store_that_answers_two_calls_otherwise_fails_where_the_shallow_call_does() -> None:
    """Of three questions with gold 0, the call for 10 misses the second, the call for 50 the third alone."""
    gold = [frozenset({0})] * 3
    shallow, deep = [[0], [1], [0]], [[0], [0], [1]]
    rankings = Rankings(
        origin="given",
        questions=("q1", "q2", "q3"),
        clusters=("",) * 3,
        gold=tuple(gold),
        calls=(judge(shallow, gold, [60] * 3, 10), judge(deep, gold, [60] * 3, 50)),
        kinds=("",) * 3,
        gold_ids=(("s/0",),) * 3,
        hit_ids=tuple(tuple(tuple(f"s/{place}" for place in hits) for hits in call) for call in (shallow, deep)),
    )
    assert [rankings.call_reaching(k) for k in (1, 10, 11, 50, 90)] == [0, 0, 1, 1, 1]
    assert _failed(rankings, 10) == [1]
    assert _failed(rankings, 50) == [2]
