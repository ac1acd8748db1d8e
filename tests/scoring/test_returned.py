"""The meter of short answers, with every figure written out."""

from __future__ import annotations

from recallbench.reports.returned import returned_section, returned_sentences
from recallbench.scoring.judgement import judge
from recallbench.scoring.returned import ReturnedRows, returned_rows

GOLD, SIZES, KINDS = [{0}, {0}, set(), {1}], [20, 20, 20, 3], ["a", "b", "a", "b"]


def test_rows_asked_eligible_and_returned_by_call_and_kind() -> None:
    short = judge([list(range(5)), list(range(5)), [7], [0, 1]], GOLD, SIZES, 5)
    deep = judge([list(range(10)), [], list(range(10)), [0, 1, 2]], GOLD, SIZES, 10)
    shallow, whole = returned_rows([short, deep], KINDS)
    # Of a: 5 + 1 of 5 + 5; of b: 5 + 2 of 5 + 3, a haystack of 3 holds no more.
    assert shallow == ReturnedRows(5, 20, 18, 13, 2, {"a": 6 / 10, "b": 7 / 8})
    assert whole == ReturnedRows(10, 40, 33, 23, 1, {"b": 3 / 13})
    assert list(returned_sentences([shallow])) == [
        "rows of the calls for 5: 20 asked, 18 eligible, 13 returned (72.2% of the eligible); 2 questions got too few"
    ]


def test_nothing_is_told_where_every_answer_is_whole() -> None:
    calls = returned_rows([judge([[4, 5, 6]], [{0}], [3 + 4], 3)], ["a"])
    assert calls == (ReturnedRows(3, 3, 3, 3, 0, {}),)
    assert returned_section(calls) == []
    assert list(returned_sentences(calls)) == []
