"""Questions that a store fails on have no ranking, and are counted."""

from collections.abc import Callable

import pytest

from recallbench.errors import Blocked, InputError
from recallbench.retrieval.failures import Failures
from recallbench.retrieval.ranking import Ranking


def failing(error: Exception) -> Callable[[], str]:
    def act() -> str:
        raise error

    return act


WRONG, GONE = InputError("wrong", expected="ids", found="None"), Blocked("gone")


def test_the_first_failure_ends_a_run_that_is_not_to_keep_going() -> None:
    with pytest.raises(InputError, match="wrong"):
        Failures().attempt(["q1"], failing(WRONG), "nothing")


def test_a_failure_is_noted_for_its_questions_and_the_others_are_untouched() -> None:
    failures = Failures(keep_going=True)
    assert failures.attempt(["q1", "q2"], failing(WRONG), "nothing") == "nothing"
    assert failures.attempt(["q3"], lambda: "found", "nothing") == "found"
    assert failures.reasons == {"q1": WRONG, "q2": WRONG}
    rankings = [Ranking("q1", (4,), (1.0,)), Ranking("q3", (5,), (1.0,))]
    assert failures.empty_failed(rankings) == [Ranking("q1", (), ()), Ranking("q3", (5,), (1.0,))]


def test_a_store_out_of_reach_ends_the_run_at_the_third_time_in_a_row() -> None:
    failures = Failures(keep_going=True)
    for question in ("q1", "q2"):
        failures.attempt([question], failing(GONE), None)
    failures.attempt(["q3"], failing(WRONG), None)  # it answers again, if wrongly
    for question in ("q4", "q5"):
        failures.attempt([question], failing(GONE), None)
    with pytest.raises(Blocked, match="gone"):
        failures.attempt(["q6"], failing(GONE), None)


def test_where_nothing_was_answered_nothing_was_measured() -> None:
    failures = Failures(keep_going=True)
    failures.attempt(["q1", "q2"], failing(WRONG), None)
    failures.refuse_all_failed(3)
    with pytest.raises(InputError, match="not one of 2 questions was answered; the first: wrong"):
        failures.refuse_all_failed(2)


def test_other_errors_are_faults_of_this_program_and_pass_through() -> None:
    with pytest.raises(ZeroDivisionError):
        Failures(keep_going=True).attempt(["q1"], lambda: 1 / 0, None)
