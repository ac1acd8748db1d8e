"""Calls that are made several at a time give their outcomes in order, and what ends the program does not wait."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from recallbench.errors import InputError
from recallbench.retrieval.at_once import attempts


def test_outcomes_have_the_order_of_the_calls() -> None:
    there, last = threading.Barrier(3), threading.Event()

    def call(number: int) -> Callable[[], int]:
        def made() -> int:
            if number < 3:
                there.wait(5)  # all three are under way before any comes back
            if number == 0:
                last.wait(5)  # the first comes back when the fourth was made
            if number == 3:
                last.set()
                raise InputError("no answer")
            return number

        return made

    came = list(attempts([call(number) for number in range(5)], 3))
    assert [attempt.value for attempt in came] == [0, 1, 2, None, 4]
    with pytest.raises(InputError, match="no answer"):
        came[3].result()


def test_a_single_caller_makes_each_call_when_it_is_wanted() -> None:
    made: list[int] = []
    outcomes = attempts([lambda number=number: made.append(number) for number in range(3)], 1)  # type: ignore[misc]
    next(outcomes)
    assert made == [0]


def test_what_is_no_failure_of_a_question_is_raised() -> None:
    def broken() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(attempts([broken], 1))
    with pytest.raises(ZeroDivisionError):
        [attempt.result() for attempt in attempts([broken, broken], 2)]


def test_a_call_that_hangs_is_left_behind() -> None:
    hanging = threading.Event()
    outcomes = attempts([lambda: 1, lambda: hanging.wait(20)], 2)
    assert next(outcomes).result() == 1
    outcomes.close()  # type: ignore[attr-defined]
    assert not hanging.is_set()
    hanging.set()
