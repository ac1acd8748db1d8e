"""The share of rows that came back, as a threshold of a report."""

from __future__ import annotations

import pytest

from recallbench import Case, evaluate
from recallbench.cases.thresholds import BelowThreshold
from recallbench.errors import UsageError

CASES = [Case("where from?", ["a"]), Case("who?", ["b"])]
ANSWERS = {"where from?": ["a", "c", "d"], "who?": ["c", "a", "d", "b", "e"]}


def search(query: str, k: int) -> list[str]:
    return ANSWERS[query][:k]


def test_a_short_answer_falls_below_a_rule_on_returned_rows() -> None:
    report = evaluate(CASES, search, k=10, candidates=5)
    assert report.value("returned_share@10") == pytest.approx((3 / 5 + 1) / 2)
    assert report.value("returned_share@3") == 1.0
    report.check("returned_share@3 >= 1")
    with pytest.raises(BelowThreshold) as missed:
        report.check("returned_share@10 >= 1")
    assert "returned_share@10 is 0.8000, 1 required (an oracle reaches 1.0000)" in str(missed.value)


def test_without_candidates_nobody_knows_what_was_eligible() -> None:
    with pytest.raises(UsageError, match="how many items could come back") as refused:
        evaluate(CASES, search, k=10).check("returned_share@10 >= 1")
    assert refused.value.expected == "candidates, as evaluate(…, candidates=1000)"
