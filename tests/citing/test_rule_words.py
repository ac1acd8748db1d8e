from __future__ import annotations

import pytest

from recallbench.citing.rule_words import bound, is_achieved, is_rule, without_comparison


@pytest.mark.parametrize(
    ("before", "between", "behind"),
    [
        ("our target for ", " is ", ""),
        ("the gate requires a ", " of ", ""),
        ("Targets: ", " ", ""),
        ("the thresholds that teams use: precision .80, ", " ", ""),
        ("", " must not fall below ", ""),
        ("", " drops ", ""),
        ("", "'s minimum: ", ""),
        ("a ", " of ", " is assumed"),
        ("a ", " of ", " or more is required"),
        ("the build fails if the ", " is below ", ""),
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
        ("it meets the target of ", " of ", ""),
        ("", " never falls below ", ""),
        ("", " you should know is ", ""),
    ],
)
def test_a_result_is_none(before: str, between: str, behind: str) -> None:
    assert not is_rule(before, between, behind)


@pytest.mark.parametrize(
    ("before", "between", "behind", "sign"),
    [
        ("", " of at least ", "", ">="),
        ("", " >= ", "", ">="),
        ("", " ≥ ", "", ">="),
        ("At the very least a ", " ", "", ">="),
        ("", " is no worse than ", "", ">="),
        ("", " never falls below ", "", ">="),
        ("", " of ", " or more", ">="),
        ("it passes the gate of ", " ", "", ">="),
        ("", " reaches the target of ", "", ">="),
        ("More than ", "", "", ">"),
        ("", " is well above ", "", ">"),
        ("", " exceeds ", "", ">"),
        ("", " > ", "", ">"),
        ("", " is at most ", "", "<="),
        ("", " does not exceed ", "", "<="),
        ("", " is under ", "", "<"),
        ("", " < ", "", "<"),
        ("", " is nearly ", "", "about"),
        ("about ", "", "", "about"),
        ("", " is just under ", "", "about"),
        ("", " ≈ ", "", "about"),
        ("", " of ", " or so", "about"),
        ("a page about ", ": ", "", ""),
        ("", " as high as ", "", "up to"),
        ("Up to ", "", "", "up to"),
        ("", " peaks at ", "", "up to"),
        ("", " can reach ", "", "up to"),
        ("", " of ", " at its best", "up to"),
        ("up to ", " is ", "", ""),
        ("", " with our approach ", "", ""),
        ("", " is well north of ", "", ">"),
        ("", " is ", "", ""),
        ("", " -> ", "", ""),
        ("", " over 1982 questions is ", "", ""),
        ("on more than one corpus ", " is ", "", ""),
    ],
)
def test_words_that_compare_make_a_bound(before: str, between: str, behind: str, sign: str) -> None:
    assert bound(before, between, behind) == sign


def test_a_bound_is_reached_by_a_verb() -> None:
    assert is_achieved("our memory reaches ", " >= ")
    assert is_achieved("", " is above ")
    assert is_achieved("", " never falls below ")
    assert not is_achieved("a ", " of at least ")
    assert not is_achieved("", " >= ")
    assert not is_achieved("the rule is ", " >= ")
    assert not is_achieved("what it should keep: ", " >= ")
    assert without_comparison(" is at least ") == " is  "
