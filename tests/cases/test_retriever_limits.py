"""Retrievers that take longer than they may, however they are called."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import recallbench
from cases.three_cases import CASES, evaluate_in_a_loop, retrieve, retrieve_async
from recallbench.cases import caller
from recallbench.errors import InputError


async def never(query: str, k: int) -> list[str]:
    while query == "allergy?":
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            continue
    return retrieve(query, k)


async def asleep(query: str, k: int) -> list[str]:
    await asyncio.sleep(5 if query == "allergy?" else 0)
    return retrieve(query, k)


async def blocking(query: str, k: int) -> list[str]:
    if query == "allergy?":
        time.sleep(4)
    return retrieve(query, k)


@pytest.mark.parametrize("hanging", [never, asleep, blocking])
def test_an_async_retriever_that_hangs(hanging: Callable[[str, int], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caller, "GRACE", 0.2)
    report = recallbench.evaluate(CASES, hanging, 3, timeout=0.2, keep_going=True)
    assert [row.failure is None for row in report.rows] == [True, False, True]
    with pytest.raises(InputError, match="case `allergy\\?`: the retriever does not answer"):
        recallbench.evaluate(CASES, hanging, 3, timeout=0.2)


def test_an_async_retriever_that_hangs_in_the_running_loop() -> None:
    assert len(evaluate_in_a_loop(asleep, timeout=0.2, keep_going=True).failures) == 1
    with pytest.raises(InputError, match="does not answer"):
        evaluate_in_a_loop(asleep, timeout=0.2)


def deaf(query: str, k: int) -> list[str]:
    if query == "allergy?":
        try:  # noqa: SIM105
            time.sleep(0.4)
        except:  # noqa: E722 - as careless code does
            pass
    return retrieve(query, k)


def deaf_on_the_way(query: str, k: int) -> Iterator[str]:
    yield from deaf(query, k)


class Lazy:
    """Hits that are retrieved only when they are iterated."""

    def __init__(self, query: str, k: int) -> None:
        self.call = query, k

    def __iter__(self) -> Iterator[str]:
        return iter(deaf(*self.call))

    def __len__(self) -> int:
        return 1


async def holding(query: str, k: int) -> list[str]:
    await asyncio.sleep(0)
    if query == "allergy?":
        time.sleep(0.4)
    return retrieve(query, k)


def holding_outside(query: str, k: int) -> Any:
    if query == "allergy?":
        time.sleep(0.4)
    return retrieve_async(query, k)


LATE = {
    "in this thread": lambda **more: recallbench.evaluate(CASES, deaf, 3, **more),
    "from a generator": lambda **more: recallbench.evaluate(CASES, deaf_on_the_way, 3, **more),
    "while it is walked": lambda **more: recallbench.evaluate(CASES, Lazy, 3, **more),
    "in a thread": lambda **more: recallbench.evaluate(CASES, deaf, 3, concurrency=2, **more),
    "async": lambda **more: recallbench.evaluate(CASES, holding, 3, **more),
    "in the running loop": lambda **more: evaluate_in_a_loop(holding, **more),
    "before it is awaited": lambda **more: evaluate_in_a_loop(holding_outside, **more),
}


@pytest.mark.parametrize("way", LATE)
def test_an_answer_behind_the_time_limit_is_late_though_it_came(way: str) -> None:
    report = LATE[way](timeout=0.2, keep_going=True)
    assert [row.failure is None for row in report.rows] == [True, False, True]
    assert "expected: a ranking within 0.2 s\n  found: none in that time" in str(report.failures[0].failure)
    with pytest.raises(InputError, match="case `allergy\\?`: the retriever does not answer"):
        LATE[way](timeout=0.2)


def test_an_answer_within_the_time_limit_is_not_late() -> None:
    assert not recallbench.evaluate(CASES, deaf, 3, timeout=30.0, keep_going=True).failures


def test_calls_that_wait_while_another_blocks_the_event_loop_are_not_late() -> None:
    async def beside(query: str, k: int) -> list[str]:
        if query == "allergy?":
            time.sleep(0.5)
        else:
            await asyncio.sleep(0.01)
        return retrieve(query, k)

    report = recallbench.evaluate(CASES, beside, 3, timeout=0.3, concurrency=3, keep_going=True)
    assert [row.failure is None for row in report.rows] == [True, False, True]


ALARM = """
import signal, time
import recallbench

CASE = recallbench.Case("allergy?", ["m1"])
recallbench.evaluate([CASE], lambda query, k: ["m1"], 3)  # imports what evaluating needs
rung = []
signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
signal.setitimer(signal.ITIMER_REAL, 1.0)
recallbench.evaluate([CASE], lambda query, k: ["m1"], 3, timeout=20)
print("before:", rung)
deadline = time.monotonic() + 20
while not rung and time.monotonic() < deadline:
    time.sleep(0.05)
print("behind:", rung == [signal.SIGALRM])
"""


def test_an_alarm_that_was_set_before_still_rings() -> None:
    done = subprocess.run([sys.executable, "-c", ALARM], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "before: []\nbehind: True\n", "")
