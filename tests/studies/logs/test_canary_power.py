"""What a canary says that it can detect: by its questions alone, and where they depend on each other."""

from __future__ import annotations

import pytest

from recallbench.scoring.planning.detectable import detectable_drop
from recallbench.studies.logs.canary.candidates import Candidate
from recallbench.studies.logs.canary.power import power


def asked(scopes: int, each: int) -> list[Candidate]:
    return [Candidate(f"{s}-{i}", "fact", "", f"s{s}", True) for s in range(scopes) for i in range(each)]


def test_questions_without_an_answer_do_not_count() -> None:
    nothing = Candidate("a", "abstention", "", "s0", False)
    stated = power([*asked(1, 100), nothing], [])
    assert (stated.n, stated.clusters, stated.level, stated.differing) == (100, 100, 0.9, 0.18)
    assert stated.drop == 0.1596
    assert stated.assumption == (
        "a recall of 0.9, and two systems that find and miss independently of each other (versions of one differ less)"
    )


def test_questions_of_one_scope_depend_on_each_other_from_five_scopes_on() -> None:
    four, ten = power(asked(4, 25), []), power(asked(10, 10), [])
    assert (four.clusters, ten.clusters) == (100, 10)
    assert four.drop == 0.1596
    # Ten scopes of ten questions: tests/scoring/planning holds the drop to the power of the sign flips.
    assert ten.drop == round(detectable_drop(100, 0.9, 0.18, [10] * 10), 4) == pytest.approx(0.2026, abs=0.003)
    # Questions of one scope more: the sizes of scopes count.
    uneven = power([*asked(9, 5), *(Candidate(f"x{i}", "fact", "", "x", True) for i in range(55))], [])
    assert uneven.drop > 1.3 * ten.drop
    # Sign flips of five scopes reach no p below 2/32.
    assert power(asked(5, 20), []).drop is None
    assert "questions of 10 scopes depend on each other, design effect 1 (no result tells it)" in ten.assumption


def test_too_few_questions_see_nothing() -> None:
    stated = power(asked(1, 3), [])
    assert stated.drop is None
    assert stated.n == 3
