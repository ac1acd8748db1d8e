"""Two judges of the same answers, held to Cohen's own arithmetic."""

from __future__ import annotations

import pytest

from recallbench.scoring.judge_agreement import JudgeAgreement, judge_agreement


def test_kappa_takes_out_what_chance_explains() -> None:
    # 20 both yes, 5 and 10 apart, 15 both no: agreed .7, by chance .5.
    first = [1.0] * 25 + [0.0] * 25
    second = [1.0] * 20 + [0.0] * 5 + [1.0] * 10 + [0.0] * 15
    assert judge_agreement(first, second) == JudgeAgreement(50, 0.7, pytest.approx(0.4))


def test_one_half_is_a_yes_and_what_one_did_not_decide_is_left_out() -> None:
    assert judge_agreement([0.5, 0.4, None, 1.0], [1.0, 0.0, 1.0, None]) == JudgeAgreement(2, 1.0, 1.0)


def test_judges_who_always_say_the_same_have_no_kappa() -> None:
    assert judge_agreement([1.0, 1.0], [1.0, 1.0]) == JudgeAgreement(2, 1.0, None)
    assert judge_agreement([1.0, 1.0], [1.0, 0.0]) == JudgeAgreement(2, 0.5, 0.0)
    assert judge_agreement([None], [1.0]) == JudgeAgreement(0, None, None)
