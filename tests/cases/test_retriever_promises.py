"""`evaluate` names the fault of a retriever that breaks its promise."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import recallbench
from cases.three_cases import CASES, retrieve
from recallbench import Case
from recallbench.errors import InputError


def raising(query: str, k: int) -> list[str]:
    raise ConnectionError("no route")


def exiting(query: str, k: int) -> list[str]:
    raise SystemExit(3)


class Broken:
    def __call__(self, query: str, k: int) -> Any:
        def hits() -> Any:
            yield "acme"
            raise KeyError("shard 2")

        return hits()


BAD: dict[str, tuple[Callable[[str, int], Any], str]] = {
    "None": (lambda q, k: None, "found: None"),
    "a text": (lambda q, k: "acme", "found: a str"),
    "a dictionary": (lambda q, k: {"acme": 1.0}, "found: a dict"),
    "a set": (lambda q, k: {"acme"}, "found: a set"),
    "a number": (lambda q, k: 7, "found: a int"),
    "too many": (lambda q, k: list("abcdef"), "expected: at most k = 3 hits\n  found: 6"),
    "twice": (lambda q, k: ["a", "b", "a"], "found: 'a' again at place 3"),
    "twice, scored": (lambda q, k: [("a", 2.0), ("a", 1.0)], "found: 'a' again at place 2"),
    "unordered": (lambda q, k: [("a", 0.1), ("b", 0.2)], "found: 0.2 at place 2, behind 0.1"),
    "NaN": (lambda q, k: [("a", 1.0), ("b", float("nan"))], "found: nan for 'b' at place 2"),
    "infinite": (lambda q, k: [("a", float("inf"))], "found: inf for 'a' at place 1"),
    "two forms": (lambda q, k: [("a", 1.0), "b"], "found: 'b'"),
    "two forms the other way": (lambda q, k: ["b", ("a", 1.0)], "found: both"),
    "a score in words": (lambda q, k: [("a", 1.0), ("b", "0.5")], "found: '0.5' at place 2, in ('b', '0.5')"),
    "no score": (lambda q, k: [("a", None)], "a score is not a number"),
    "no number": (lambda q, k: ["b", ("a", "high")], "found: 'high' at place 2, in ('a', 'high')"),
    "no number in a list": (lambda q, k: [["a", "high"]], "a score is not a number"),
    "too many from a generator": (lambda q, k: (id for id in "abcdef"), "at most k = 3 hits\n  found: 4 or more"),
    "no id": (lambda q, k: [None], "found: None at place 1"),
    "no id that can be hashed": (lambda q, k: [["a"]], "found: ['a']"),
    "raises": (raising, "found: ConnectionError: no route"),
    "raises on the way": (Broken(), "found: KeyError: 'shard 2'"),
    "exits": (exiting, "found: SystemExit: 3"),
    "takes other arguments": (lambda q: ["a"], "TypeError"),
    "hangs": (lambda q, k: time.sleep(5), "expected: a ranking within 0.2 s"),
}


@pytest.mark.parametrize("concurrency", [1, 2])
@pytest.mark.parametrize("bad", BAD)
def test_a_retriever_that_breaks_its_promise(bad: str, concurrency: int) -> None:
    retrieve, message = BAD[bad]
    cases = [Case("what about acme?", ["acme"], id="c7")]
    limit = 0.2 if bad == "hangs" else 60.0
    with pytest.raises(InputError) as caught:
        recallbench.evaluate(cases, retrieve, k=3, timeout=limit, concurrency=concurrency)
    assert str(caught.value).startswith("case `c7`: ")
    assert message in str(caught.value)
    report = recallbench.evaluate(cases, retrieve, k=3, timeout=limit, concurrency=concurrency, keep_going=True)
    assert (report.recall, report.n, len(report.failures)) == (0.0, 1, 1)
    assert message in str(report.failures[0].failure)
    assert "(1 failed)" in str(report)
    assert "c7 (failed)" in repr(report)


def test_a_pair_of_words_may_be_an_id() -> None:
    cases = [Case("a", [("s1", "t1")]), Case("never?", kind="abstention")]
    assert recallbench.evaluate(cases, lambda q, k: [("s1", "t2"), ("s1", "t1")], 2).recall == 1.0


@pytest.mark.parametrize("more", [{}, {"timeout": None}, {"concurrency": 2}])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_endless_iterator_is_read_to_k_plus_1(more: dict[str, Any], asynchronous: bool) -> None:
    read: list[int] = []

    def endless() -> Iterator[int]:
        for number in range(1000):
            read.append(number)
            yield number

    async def awaited(query: str, k: int) -> Iterator[int]:
        return endless()

    with pytest.raises(InputError, match="too many"):
        recallbench.evaluate(CASES[:1], awaited if asynchronous else lambda q, k: endless(), 3, **more)
    assert read == [0, 1, 2, 3]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_failing_case_does_not_lose_the_others(concurrency: int) -> None:
    def mostly(query: str, k: int) -> list[str]:
        if query == "allergy?":
            raise RuntimeError("boom")
        return retrieve(query, k)

    report = recallbench.evaluate(CASES, mostly, 3, keep_going=True, concurrency=concurrency)
    assert [row.failure is None for row in report.rows] == [True, False, True]
    assert report.recall == pytest.approx(2 / 3)
    assert report.rows[1].values["mrr@3"] == 0


def test_the_retrievers_exception_is_the_cause() -> None:
    with pytest.raises(InputError) as caught:
        recallbench.evaluate(CASES, raising, 3)
    assert isinstance(caught.value.__cause__, ConnectionError)


def test_an_interruption_is_no_failed_case() -> None:
    def interrupted(query: str, k: int) -> list[str]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recallbench.evaluate(CASES, interrupted, 3, keep_going=True)
