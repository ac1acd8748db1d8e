"""What the last line of scored rankings says."""

from __future__ import annotations

import recallbench as api
from recallbench.cases.change import Change
from recallbench.cases.report import Report
from recallbench.cases.score_conclusion import change_conclusion, score_conclusion


def report(*rankings: list[str], k: int = 2) -> Report:
    """The report of cases that each look for `a`."""
    cases = [api.Case(f"q{number}", ["a"]) for number in range(len(rankings))]
    return api.evaluate(cases, lambda query, k: rankings[int(query[1:])][:k], k=k)


def change(before: list[list[str]], after: list[list[str]]) -> Change:
    return report(*after).compare(report(*before))


def test_enough_queries_are_told_with_their_interval() -> None:
    told = score_conclusion(report(*[["a"]] * 30, *[["x"]] * 10), again="recallbench score B")
    assert str(told) == (
        "The first 2 hits hold 75% of what is relevant (recall_frac@2 0.7500, 95% 0.5981 to 0.8581, 40 queries); the "
        "interval says how far off that may be; next: recallbench score B --compare OTHER"
    )
    assert told.tone == "good"


def test_one_query_is_too_few() -> None:
    told = score_conclusion(report(["a"]), again="recallbench score B --k 1")
    assert (told.belief, told.tone) == ("one query is too few to rely on", "open")
    assert told.next == "score more queries"


def test_failures_are_told_before_anything_else() -> None:
    told = score_conclusion(report(*[["a"]] * 30), "3 of 30 cases failed")
    assert (told.belief, told.next, told.tone) == (
        "3 of 30 cases failed",
        "mend what is named above",
        "bad",
    )


def test_queries_without_anything_to_find_measure_nothing() -> None:
    empty = api.evaluate([api.Case("q", [], kind="abstention")], lambda query, k: [], k=2)
    assert str(score_conclusion(empty)) == (
        "Nothing could be measured: none of 1 query has anything to find; next: say what is relevant for each query"
    )


def test_a_change_that_helps_one_measure_and_hurts_another_names_both() -> None:
    told = change_conclusion(change([["a", "x"]] * 30 + [["y", "x"]] * 10, [["x", "a"]] * 40), "A", "B")
    assert str(told) == (
        "B is better in recall_frac@2 +0.2500 (+0.1405 to +0.4019), 40 queries, p 0.0078, and worse in mrr@2 "
        "-0.2500, p 0.0078; both p are corrected; next: decide which of the two you want"
    )


def test_a_change_that_helps_says_why_one_can_believe_it() -> None:
    found, lost = [["a", "x", "y"]], [["x", "a", "y"]]
    told = change_conclusion(change(found * 20 + lost * 20, found * 40), "A", "B")
    assert told.happened == "B is better than A: mrr@2 +0.2500 (+0.1690 to +0.3310), 40 queries, p 7.6e-06"
    assert (told.belief, told.next, told.tone) == ("p and interval agree", "keep B", "good")


def test_no_difference_is_not_called_equal() -> None:
    told = change_conclusion(change([["a"], ["x"], ["a"]] * 4, [["a"], ["a"], ["x"]] * 4), "A", "B")
    assert told.happened == (
        "B is not shown to differ from A: recall_frac@2 0.0000 (-0.4258 to +0.4258), 12 queries, p 1.0000"
    )
    assert told.belief.startswith("a difference below 0.")
    assert (told.next, told.tone) == ("score more queries", "open")


def test_equal_answers_are_called_so() -> None:
    told = change_conclusion(change([["a"], ["x"]], [["a"], ["x"]]), "A", "B")
    assert str(told) == "B and A score alike for each of 2 queries; next: keep either"


def test_where_the_interval_and_p_disagree_the_line_says_which_decides() -> None:
    told = change_conclusion(change([["a"]] * 40, [["x"]] * 6 + [["a"]] * 34), "A", "B")
    assert told.happened == (
        "B is not shown to differ from A: recall_frac@2 -0.1500 (-0.2907 to -0.0492), 40 queries, p 0.1250"
    )
    assert told.belief == "the interval excludes 0, yet p decides: it is corrected"


def test_failures_keep_a_comparison_from_being_good() -> None:
    told = change_conclusion(change([["x"]] * 40, [["a"]] * 40), "A", "B", "A: 1 of 40 cases failed")
    assert told.belief == "A: 1 of 40 cases failed"
    assert (told.next, told.tone) == ("mend what is named above", "bad")


def test_the_line_stays_short() -> None:
    """Files of twenty characters, and more queries than that."""
    found, lost = [["a", "x", "y"]], [["x", "a", "y"]]
    before, after, again = "rankings/before.json", "rankings/after-1.json", "recallbench score rankings/after.jsonl"
    changes = [
        (found * 20 + lost * 20, found * 40),
        ([["a", "x"]] * 30 + [["y", "x"]] * 10, [["x", "a"]] * 40),
        ([["a"], ["x"], ["a"]] * 4, [["a"], ["a"], ["x"]] * 4),
        ([["a"]] * 40, [["x"]] * 6 + [["a"]] * 34),
    ]
    lines = [str(change_conclusion(change(*each), before, after, failed)) for each in changes for failed in FAILED]
    lines += [str(score_conclusion(report(*found * 30, *lost * 10), failed, again)) for failed in FAILED]
    assert [line for line in lines if len(line) > 220] == []


FAILED = ("", "rankings/after-1.json: 1 of 40 cases failed")
