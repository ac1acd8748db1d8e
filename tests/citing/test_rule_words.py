from __future__ import annotations

import pytest

from recallbench.citing.rule_words import is_rule


@pytest.mark.parametrize(
    ("before", "between", "behind"),
    [
        ("our target for ", " is ", ""),
        ("the gate requires a ", " of ", ""),
        ("at least ", "", ""),
        ("Targets: ", " ", ""),
        ("the thresholds that teams use: precision .80, ", " ", ""),
        ("", " >= ", ""),
        ("", " of at least ", ""),
        ("", " must not fall below ", ""),
        ("", " drops ", ""),
        ("", "'s minimum: ", ""),
        ("a ", " of ", " is assumed"),
        ("", " ", " or more"),
    ],
)
def test_a_threshold_is_a_rule(before: str, between: str, behind: str) -> None:
    assert is_rule(before, between, behind)


@pytest.mark.parametrize(
    ("before", "between", "behind"),
    [
        ("", " is ", ""),
        ("", " is at least ", ""),
        ("", " -> ", ""),
        ("", " drops to ", ""),
        ("with the gate passed, ", " is ", ""),
        ("the gate holds: ", " is ", ""),
        ("all thresholds are met: ", " ", ""),
        ("it requires no model and reaches ", " ", ""),
        ("", " with the gate on is ", ""),
        ("", " ", " is what we got"),
    ],
)
def test_a_result_is_none(before: str, between: str, behind: str) -> None:
    assert not is_rule(before, between, behind)
