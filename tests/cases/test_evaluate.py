"""`recallbench.evaluate` as its users call it."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import json
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import recallbench
from recallbench import BelowThreshold, Case, RecallBenchError
from recallbench.corpora.matching.method import Matching
from recallbench.errors import InputError, UsageError

CASES = [Case("work?", ["acme"]), Case("allergy?", ["shellfish"]), Case("plan?", ["q3", "acme"])]
RANKED = {
    "work?": ["acme", "portland", "python"],
    "allergy?": ["python", "portland", "shellfish"],
    "plan?": ["q3", "python", "acme"],
}


def found(query: str, k: int) -> list[str]:
    return RANKED[query][:k]


async def found_async(query: str, k: int) -> list[str]:
    await asyncio.sleep(0.001)
    return RANKED[query][:k]


def test_three_queries_by_hand() -> None:
    report = recallbench.evaluate(CASES, found, k=3)
    assert report.recall == 1.0
    assert report.precision == pytest.approx(4 / 9)
    assert report.mrr == pytest.approx(7 / 9)
    ideal = 1 + 1 / np.log2(3)
    assert report.ndcg == pytest.approx((1 + 0.5 + 1.5 / ideal) / 3)
    # Per query 2 / 4, 2 / 4 and 4 / 5; of the means 2 (4/9) / (4/9 + 1).
    assert report.f1 == pytest.approx(0.6)
    assert report.f1_of_means == pytest.approx(8 / 13)
    assert report.n == len(report) == 3
    assert report.value("recall_any@1") == pytest.approx(2 / 3)


def test_the_line_carries_exact_names() -> None:
    assert str(recallbench.evaluate(CASES, found, k=3)) == (
        "recall_frac@3 1.0000, precision@3 0.4444, mrr@3 0.7778, ndcg@3 0.8066, f1@3 0.6000, f1_of_means@3 0.6154 "
        "over 3 cases; matching: id"
    )


async def _in_a_loop(retrieve: Callable[..., Any]) -> recallbench.Report:
    return recallbench.evaluate(CASES, retrieve, k=3)


def _awaited(retrieve: Callable[..., Any], **more: Any) -> recallbench.Report:
    return asyncio.run(recallbench.evaluate_async(CASES, retrieve, k=3, **more))


class Client:
    async def __call__(self, query: str, k: int) -> list[str]:
        return await found_async(query, k)

    async def search(self, query: str, k: int) -> list[str]:
        return await found_async(query, k)


WAYS: dict[str, Callable[[], recallbench.Report]] = {
    "pairs": lambda: recallbench.evaluate(CASES, lambda q, k: [(id, -n) for n, id in enumerate(RANKED[q])], 3),
    "numpy": lambda: recallbench.evaluate(CASES, lambda q, k: np.array(RANKED[q]), 3),
    "numpy scores": lambda: recallbench.evaluate(
        CASES, lambda q, k: list(zip(RANKED[q], np.float32([3, 2, 1]), strict=True)), 3
    ),
    "a generator": lambda: recallbench.evaluate(CASES, lambda q, k: (id for id in RANKED[q]), 3),
    "no limit": lambda: recallbench.evaluate(CASES, found, 3, timeout=None),
    "threads": lambda: recallbench.evaluate(CASES, found, 3, concurrency=2),
    "async": lambda: recallbench.evaluate(CASES, found_async, 3),
    "async, several": lambda: recallbench.evaluate(CASES, found_async, 3, concurrency=3, timeout=None),
    "async method": lambda: recallbench.evaluate(CASES, Client().search, 3),
    "async object": lambda: recallbench.evaluate(CASES, Client(), 3),
    "async partial": lambda: recallbench.evaluate(CASES, functools.partial(found_async), 3),
    "a lambda that is async": lambda: recallbench.evaluate(CASES, lambda q, k: found_async(q, k), 3),
    "such a lambda in threads": lambda: recallbench.evaluate(CASES, lambda q, k: found_async(q, k), 3, concurrency=2),
    "sync in a loop": lambda: asyncio.run(_in_a_loop(found)),
    "async in a loop": lambda: asyncio.run(_in_a_loop(found_async)),
    "awaited": lambda: _awaited(found_async),
    "awaited, several": lambda: _awaited(found_async, concurrency=3),
    "awaited, sync": lambda: _awaited(found),
    "cases from a generator": lambda: recallbench.evaluate((case for case in CASES), found, 3),
    "a worker thread": lambda: _elsewhere(lambda: recallbench.evaluate(CASES, found, 3)),
}


def _elsewhere(call: Callable[[], recallbench.Report]) -> recallbench.Report:
    kept: list[recallbench.Report] = []
    thread = threading.Thread(target=lambda: kept.append(call()))
    thread.start()
    thread.join()
    return kept[0]


@pytest.mark.parametrize("way", WAYS)
def test_however_it_is_asked_the_report_is_the_same(way: str) -> None:
    expected = recallbench.evaluate(CASES, found, 3)
    report = WAYS[way]()
    assert str(report) == str(expected)
    assert [row.values for row in report.rows] == [row.values for row in expected.rows]


def test_an_async_client_may_belong_to_the_running_loop() -> None:
    async def main() -> recallbench.Report:
        lock, loop = asyncio.Lock(), asyncio.get_running_loop()

        async def own(query: str, k: int) -> list[str]:
            assert asyncio.get_running_loop() is loop
            async with lock:
                return await found_async(query, k)

        return await recallbench.evaluate_async(CASES, own, 3, concurrency=3)

    assert asyncio.run(main()).recall == 1.0


def test_calls_come_from_the_thread_that_asked() -> None:
    database = sqlite3.connect(":memory:")  # refuses any other thread
    report = recallbench.evaluate(CASES, lambda q, k: [row[0] for row in database.execute("select 'acme'")], 3)
    assert report.value("recall_any@3") == pytest.approx(2 / 3)


def test_the_context_goes_along_into_threads() -> None:
    tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant")
    tenant.set("acme")
    assert recallbench.evaluate(CASES, lambda q, k: [tenant.get()], 3, concurrency=2).recall == pytest.approx(0.5)


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
    "no score": (lambda q, k: [("a", None)], "a score that is no number"),
    "no number": (lambda q, k: ["b", ("a", "high")], "found: 'high' at place 2, in ('a', 'high')"),
    "no number in a list": (lambda q, k: [["a", "high"]], "a score that is no number"),
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
    retrieve, said = BAD[bad]
    cases = [Case("what about acme?", ["acme"], id="c7")]
    limit = 0.2 if bad == "hangs" else 60.0
    with pytest.raises(InputError) as caught:
        recallbench.evaluate(cases, retrieve, k=3, timeout=limit, concurrency=concurrency)
    assert str(caught.value).startswith("case `c7`: ")
    assert said in str(caught.value)
    report = recallbench.evaluate(cases, retrieve, k=3, timeout=limit, concurrency=concurrency, keep_going=True)
    assert (report.recall, report.n, len(report.failures)) == (0.0, 1, 1)
    assert said in str(report.failures[0].failure)
    assert "(1 failed)" in str(report)
    assert "c7 (failed)" in repr(report)


def test_a_pair_of_words_may_be_an_id() -> None:
    cases = [Case("a", [("s1", "t1")]), Case("never?", kind="abstention")]
    assert recallbench.evaluate(cases, lambda q, k: [("s1", "t2"), ("s1", "t1")], 2).recall == 1.0


@pytest.mark.parametrize("more", [{}, {"timeout": None}, {"concurrency": 2}])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_iterator_that_never_ends_is_read_to_one_beyond_k(more: dict[str, Any], asynchronous: bool) -> None:
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
def test_one_failing_case_does_not_lose_the_others(concurrency: int) -> None:
    def mostly(query: str, k: int) -> list[str]:
        if query == "allergy?":
            raise RuntimeError("boom")
        return found(query, k)

    report = recallbench.evaluate(CASES, mostly, 3, keep_going=True, concurrency=concurrency)
    assert [row.failure is None for row in report.rows] == [True, False, True]
    assert report.recall == pytest.approx(2 / 3)
    assert report.rows[1].values["mrr@3"] == 0


def test_what_the_retriever_raised_is_the_cause() -> None:
    with pytest.raises(InputError) as caught:
        recallbench.evaluate(CASES, raising, 3)
    assert isinstance(caught.value.__cause__, ConnectionError)


async def never(query: str, k: int) -> list[str]:
    while query == "allergy?":
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            continue
    return found(query, k)


async def asleep(query: str, k: int) -> list[str]:
    await asyncio.sleep(5 if query == "allergy?" else 0)
    return found(query, k)


async def blocking(query: str, k: int) -> list[str]:
    if query == "allergy?":
        time.sleep(4)
    return found(query, k)


@pytest.mark.parametrize("hanging", [never, asleep, blocking])
def test_an_async_retriever_that_hangs(hanging: Callable[[str, int], Any]) -> None:
    report = recallbench.evaluate(CASES, hanging, 3, timeout=0.2, keep_going=True)
    assert [row.failure is None for row in report.rows] == [True, False, True]
    with pytest.raises(InputError, match="case `allergy\\?`: the retriever does not answer"):
        recallbench.evaluate(CASES, hanging, 3, timeout=0.2)


def test_an_async_retriever_that_hangs_in_the_running_loop() -> None:
    assert len(_awaited(asleep, timeout=0.2, keep_going=True).failures) == 1
    with pytest.raises(InputError, match="does not answer"):
        _awaited(asleep, timeout=0.2)


def deaf(query: str, k: int) -> list[str]:
    if query == "allergy?":
        try:  # noqa: SIM105
            time.sleep(0.4)
        except:  # noqa: E722 - as careless code does
            pass
    return found(query, k)


def deaf_on_the_way(query: str, k: int) -> Iterator[str]:
    yield from deaf(query, k)


class Lazy:
    """Hits that are found only when they are walked."""

    def __init__(self, query: str, k: int) -> None:
        self.asked = query, k

    def __iter__(self) -> Iterator[str]:
        return iter(deaf(*self.asked))

    def __len__(self) -> int:
        return 1


async def holding(query: str, k: int) -> list[str]:
    await asyncio.sleep(0)
    if query == "allergy?":
        time.sleep(0.4)
    return found(query, k)


def holding_outside(query: str, k: int) -> Any:
    if query == "allergy?":
        time.sleep(0.4)
    return found_async(query, k)


LATE = {
    "in this thread": lambda **more: recallbench.evaluate(CASES, deaf, 3, **more),
    "from a generator": lambda **more: recallbench.evaluate(CASES, deaf_on_the_way, 3, **more),
    "while it is walked": lambda **more: recallbench.evaluate(CASES, Lazy, 3, **more),
    "in a thread": lambda **more: recallbench.evaluate(CASES, deaf, 3, concurrency=2, **more),
    "async": lambda **more: recallbench.evaluate(CASES, holding, 3, **more),
    "in the running loop": lambda **more: _awaited(holding, **more),
    "before it is awaited": lambda **more: _awaited(holding_outside, **more),
}


@pytest.mark.parametrize("way", LATE)
def test_an_answer_behind_the_time_limit_is_late_though_it_came(way: str) -> None:
    report = LATE[way](timeout=0.2, keep_going=True)
    assert [row.failure is None for row in report.rows] == [True, False, True]
    assert "expected: a ranking within 0.2 s\n  found: none in that time" in str(report.failures[0].failure)
    with pytest.raises(InputError, match="case `allergy\\?`: the retriever does not answer"):
        LATE[way](timeout=0.2)
    assert not LATE[way](timeout=30.0, keep_going=True).failures


def test_whoever_waits_for_one_that_holds_the_event_loop_is_not_late() -> None:
    async def beside(query: str, k: int) -> list[str]:
        if query == "allergy?":
            time.sleep(0.5)
        else:
            await asyncio.sleep(0.01)
        return found(query, k)

    report = recallbench.evaluate(CASES, beside, 3, timeout=0.3, concurrency=3, keep_going=True)
    assert [row.failure is None for row in report.rows] == [True, False, True]


def test_an_alarm_that_was_set_before_still_rings() -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        recallbench.evaluate(CASES, found, 3)
        assert rung == []
        time.sleep(0.5)
        assert rung == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_an_interruption_is_no_failed_case() -> None:
    def interrupted(query: str, k: int) -> list[str]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recallbench.evaluate(CASES, interrupted, 3, keep_going=True)


@pytest.mark.parametrize("k", [0, -1, 2.0, "3", True, None])
def test_k_is_a_depth(k: Any) -> None:
    with pytest.raises(UsageError, match="k is how many hits"):
        recallbench.evaluate(CASES, found, k)


@pytest.mark.parametrize(
    "more",
    [{"timeout": 0}, {"timeout": float("nan")}, {"concurrency": 0}, {"match": "words"}, {"match_chunk": 60},
     {"candidates": 0}, {"match": "tokens", "match_threshold": 2}, {"match": "exact", "match_threshold": 0.5},
     {"match_threshold": 0.3}, {"match": Matching("tokens", 0.4), "match_threshold": 0.5},
     {"match": Matching("tokens", 0.4), "match_chunk": 60}],
)  # fmt: skip
def test_options_that_make_no_sense(more: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        recallbench.evaluate(CASES, found, 3, **more)


def test_a_threshold_that_would_do_nothing_is_refused() -> None:
    cases = [Case("s", expected="blue")]
    with pytest.raises(UsageError, match="match_threshold is for token F1") as told:
        recallbench.evaluate(cases, lambda q, k: ["blue"], 3, match="exact", match_threshold=0.5)
    assert (told.value.expected, told.value.found) == ('match="tokens", "hybrid" or "bm25"', "match='exact'")
    with pytest.raises(UsageError, match="match_threshold is for token F1"):
        asyncio.run(recallbench.evaluate_async(cases, lambda q, k: ["blue"], 3, match="exact", match_threshold=0.3))
    assert recallbench.evaluate(cases, lambda q, k: ["blue"], 3, match=Matching("exact")).recall == 1.0


def test_cases_that_are_none() -> None:
    with pytest.raises(UsageError, match="nothing to evaluate"):
        recallbench.evaluate([], found, 3)
    with pytest.raises(InputError, match="entry 1 of the cases"):
        recallbench.evaluate([CASES[0], {"query": "x"}], found, 3)  # type: ignore[list-item]
    with pytest.raises(InputError, match="case `a`: an id that two cases have"):
        recallbench.evaluate([Case("q", [1], id="a"), Case("r", [2], id="a")], found, 3)
    with pytest.raises(InputError, match="case `work\\?`: a query that two cases have"):
        recallbench.evaluate(CASES + CASES[:1], found, 3)
    with pytest.raises(InputError, match="case `work\\?`: a query that two cases have"):
        asyncio.run(recallbench.evaluate_async([*CASES, Case("work?", ["q3"])], found_async, 3))
    # A query may be asked for two tenants, each with an id.
    both = [Case("work?", ["acme"], id="t1"), Case("work?", ["q3"], id="t2")]
    assert recallbench.evaluate(both, found, 3).recall == 0.5
    with pytest.raises(UsageError, match="retrieve is a function"):
        recallbench.evaluate(CASES, "found", 3)  # type: ignore[arg-type]


def test_ids_of_any_kind_that_can_be_hashed() -> None:
    cases = [Case("a", {1, 2}), Case("b", [frozenset("x")])]
    report = recallbench.evaluate(cases, lambda q, k: [np.int64(2), 9] if q == "a" else [frozenset("x")], 2)
    assert [row.values["recall_frac@2"] for row in report.rows] == [0.5, 1.0]


def test_ids_that_can_never_match_are_no_recall_of_0() -> None:
    with pytest.raises(InputError, match="no id that came back can ever be a relevant one"):
        recallbench.evaluate([Case("a", ["1"])], lambda q, k: [1, 2], 2)
    assert recallbench.evaluate([Case("a", ["1"])], lambda q, k: ["2"], 2).recall == 0.0


def test_ids_where_texts_should_be() -> None:
    case = Case("capital?", ["1"], expected="Paris is the capital")
    with pytest.raises(InputError, match="a relevant id where a text should be") as caught:
        recallbench.evaluate([case], lambda q, k: ["2", "1"], 2, match="tokens")
    assert "case `capital?`" in str(caught.value)
    assert "--texts" in str(caught.value)
    texts = {"1": "the capital is Paris", "2": "no"}
    assert recallbench.evaluate([case], lambda q, k: ["2", "1"], 2, match="tokens", texts=texts).recall == 1.0
    other = Case("capital?", expected="Paris is the capital")
    assert "--texts FILE" in recallbench.evaluate([other], lambda q, k: ["2", "1"], 2, match="tokens").notes[0]
    assert recallbench.evaluate([other], lambda q, k: ["2", "Paris it is"], 2, match="exact").notes == ()


def test_cases_that_should_find_nothing_are_in_no_mean() -> None:
    cases = [*CASES, Case("never said?", [], kind="abstention")]
    scored = {
        **{q: [(id, 9.0 - n) for n, id in enumerate(ids)] for q, ids in RANKED.items()},
        "never said?": [("x", 2)],
    }
    report = recallbench.evaluate(cases, lambda q, k: scored[q], 3)
    assert (report.recall, report.n, len(report)) == (1.0, 3, 4)
    assert report.rows[3].values == {}
    assert report.abstention is not None
    assert (report.abstention.auroc, report.abstention.false_retrieval) == (1.0, 0.0)
    assert "1 with nothing to find, in no mean" in repr(report)
    assert recallbench.evaluate(cases, lambda q, k: ["x"], 3).abstention is None


def test_abstention_for_machines() -> None:
    cases = [Case("a", ["x"]), Case("n", kind="abstention")]
    told = json.loads(recallbench.evaluate(cases, lambda q, k: [("x", float(q == "a"))], 1).table("json"))
    expected = {"n": 1, "answerable": 1, "threshold": 1.0, "false_retrieval": 0.0, "auroc": 1.0}
    assert told["abstention"] == expected
    empty = json.loads(recallbench.evaluate(cases, lambda q, k: [], 1).table("json"))
    assert empty["abstention"] == {**expected, "threshold": None, "auroc": 0.5}


def test_nothing_but_abstention_has_no_mean() -> None:
    report = recallbench.evaluate([Case("q", kind="abstention")], lambda q, k: [], 3)
    assert np.isnan(report.recall)
    assert "recall_frac@3" in report.table()
    assert '"recall_frac@3": null' in report.table("json")
    with pytest.raises(BelowThreshold):
        report.check(recall=0.1)


def test_chance_only_where_the_candidates_are_known() -> None:
    assert recallbench.evaluate(CASES, found, 3).estimate("recall_frac@3").chance is None
    report = recallbench.evaluate(CASES, found, 3, candidates=30)
    assert report.estimate("recall_frac@3").chance == pytest.approx(0.1)
    with pytest.raises(InputError, match="more items than there are candidates"):
        recallbench.evaluate(CASES, found, 3, candidates=2)


# Matching by text

SAID = {"c": ["Berlin is big.", "Paris is the capital and most populous city of France…"], "s": ["blue!"], "m": ["tea"]}
TOLD = [
    Case("c", expected="Paris is the capital of France."),
    Case("s", expected="Blue"),
    Case("m", expected="The moon is made of rock"),
]


def test_matching_by_text() -> None:
    report = recallbench.evaluate(TOLD, lambda q, k: SAID[q], 2, match="tokens")
    assert str(report).endswith("matching: tokens f1>=0.3")
    assert [row.values["recall_frac@2"] for row in report.rows] == [1, 1, 0]
    assert report.mrr == pytest.approx((0.5 + 1 + 0) / 3)
    assert report.texts is not None
    assert report.texts.found(2) == (1, 1, 1)
    assert [one.threshold for one in report.texts.sensitivity(2)] == [None, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert [round(one.recall, 2) for one in report.texts.sensitivity(2)] == [0.33, *[0.67] * 6]
    strict = recallbench.evaluate(TOLD, lambda q, k: SAID[q], 2, match="exact")
    assert [row.values["recall_frac@2"] for row in strict.rows] == [0, 1, 0]


def test_texts_by_id() -> None:
    known = {f"{q}{n}": text for q, texts in SAID.items() for n, text in enumerate(texts)}
    ids = {q: [f"{q}{n}" for n in range(len(texts))] for q, texts in SAID.items()}
    plain = recallbench.evaluate(TOLD, lambda q, k: SAID[q], 2, match="tokens")
    for texts in (known, known.get):
        report = recallbench.evaluate(TOLD, lambda q, k: ids[q], 2, match="tokens", texts=texts)  # type: ignore[arg-type]
        assert str(report) == str(plain)
    with pytest.raises(InputError, match="case `m`: a hit has no text"):
        recallbench.evaluate(TOLD, lambda q, k: ids[q], 2, match="tokens", texts={**known, "m0": None})  # type: ignore[dict-item]
    report = recallbench.evaluate(
        TOLD,
        lambda q, k: ids[q],
        2,
        match="tokens",
        texts={k: v for k, v in known.items() if k != "m0"},
        keep_going=True,
    )
    assert len(report.failures) == 1


def test_each_text_that_matches_counts_for_precision_and_the_first_for_recall() -> None:
    said = {"s": ["blue", "Blue", "blue"], "late": ["tea", "blue", "blue"], "apart": ["blue", "tea", "blue"], "no": []}
    cases = [Case(q, expected="blue") for q in said]
    report = recallbench.evaluate(cases, lambda q, k: said[q], 3, match="tokens")
    ideal = 1 + 1 / np.log2(3)
    names = ("recall_frac@3", "precision@3", "mrr@3", "ndcg@3", "f1@3")
    assert [[row.values[name] for name in names] for row in report.rows] == [
        [1, 1, 1, pytest.approx(1), pytest.approx(1)],
        [1, pytest.approx(2 / 3), 0.5, pytest.approx((1 / np.log2(3) + 0.5) / ideal), pytest.approx(2 * 2 / 5)],
        [1, pytest.approx(2 / 3), 1, pytest.approx(1.5 / ideal), pytest.approx(2 * 2 / 5)],
        [0, 0, 0, 0, 0],
    ]
    # Nobody knows how many other texts would match.
    assert [report.ceiling(one) for one in report.measures] == [1] * 6


def test_cases_with_ids_and_cases_with_texts_are_counted_apart() -> None:
    said = {"d1": "tea", "d2": "The ferry leaves at nine!", "d3": "The ferry leaves at ten"}
    cases = [
        Case("id", {"d1": 2, "d3": 1}),
        Case("both", ["d1"], expected="the ferry leaves at nine"),
        Case("text", expected="the ferry leaves at nine"),
        Case("none", kind="abstention"),
    ]
    report = recallbench.evaluate(cases, lambda q, k: list(said)[:k], 3, match="tokens", texts=said)
    shown = [[row.values.get(f"{name}@3") for name in ("recall_frac", "precision", "mrr")] for row in report.rows]
    assert shown == [
        [1, pytest.approx(2 / 3), 1],
        [1, pytest.approx(1 / 3), 1],
        [1, pytest.approx(2 / 3), 0.5],
        [None, None, None],
    ]
    assert report.rows[0].values["ndcg@3"] == pytest.approx((2 + 0.5) / (2 + 1 / np.log2(3)))
    assert report.ways == ("id", "id", "text", "")
    assert {way: (one.n, one.mrr) for way, one in report.apart.items()} == {"id": (2, 1.0), "text": (1, 0.5)}
    assert "<th>decided by</th>" in report._repr_html_()
    assert "<tr><td>text</td><td>1</td><td>1.0000</td><td>0.6667</td><td>0.5000</td>" in report._repr_html_()
    assert str(report).endswith("over 3 cases; matching: tokens f1>=0.3 (2 by id, 1 by text)")
    document = json.loads(report.table("json"))
    assert {way: one["n"] for way, one in document["decided_by"].items()} == {"id": 2, "text": 1}
    assert [row["decided_by"] for row in document["rows"]] == ["id", "id", "text", None]
    assert "| text | 1 | 1.0000 | 0.6667 | 0.5000 |" in report.table("markdown")
    told = report.table("csv").splitlines()
    assert [line.rpartition(",")[2] for line in told[1:]] == [
        "id",
        "id",
        *["tokens f1>=0.3"] * 2,
        "id",
        *["tokens f1>=0.3"] * 2,
    ]
    assert told[5].startswith("MEAN decided by=id,,1.0,0.5,1.0,")
    assert report.texts is not None
    assert report.texts.found(3) == (1, 0, 0)
    # Where each has a text, texts were asked for throughout.
    by_text = recallbench.evaluate(cases[1:], lambda q, k: list(said)[:k], 3, match="tokens", texts=said)
    assert (by_text.ways, by_text.apart, by_text.mrr) == (("text", "text", ""), {}, 0.5)


def test_exact_finds_the_expected_text_in_a_longer_one() -> None:
    said = ["Ask me: the ferry, leaves at NINE, as a rule.", "the ferry leaves at ninety"]
    report = recallbench.evaluate([Case("q", expected="Ferry leaves at nine")], lambda q, k: said, 2, match="exact")
    assert (report.recall, report.precision, report.mrr) == (1.0, 0.5, 1.0)


def test_what_is_missing_for_a_way_of_matching() -> None:
    with pytest.raises(InputError, match="nothing to match by text"):
        recallbench.evaluate(CASES, found, 3, match="tokens")
    with pytest.raises(InputError, match="nothing to match by id"):
        recallbench.evaluate(TOLD, lambda q, k: SAID[q], 2)


def test_numbers_matched_in_different_ways_are_not_compared() -> None:
    cases = [Case("s", ["blue"], expected="blue")]
    by_id = recallbench.evaluate(cases, lambda q, k: ["blue"], 1)
    by_text = recallbench.evaluate(cases, lambda q, k: ["blue"], 1, match="tokens")
    other = recallbench.evaluate(cases, lambda q, k: ["blue"], 1, match="tokens", match_threshold=0.5)
    for one, two in ((by_id, by_text), (by_text, by_id), (by_text, other)):
        with pytest.raises(UsageError, match="matched in different ways"):
            one.compare(two)


def test_every_error_is_one_that_can_be_caught_as_such() -> None:
    with pytest.raises(RecallBenchError):
        recallbench.evaluate(CASES, found, 0)


def test_under_tokens_f1_alone_decides_which_hit_is_relevant() -> None:
    said = ["There is no ferry on that day.", "Oh no!"]
    case = Case("Is there a ferry?", expected="No")
    report = recallbench.evaluate([case], lambda q, k: said, 2, match="tokens", match_chunk=60)
    # 2 / 8 and 2 / 3: the second is the find.
    assert (report.recall, report.mrr) == (1.0, 0.5)
    assert report.texts is not None
    assert report.texts.found(2) == (1, 0, 0)
    assert [(one.threshold, one.mrr) for one in report.texts.sensitivity(2)][:4] == [
        (None, 1.0),
        (0.1, 1.0),
        (0.2, 1.0),
        (0.3, 0.5),
    ]
    assert report.notes[0].startswith("warning: 1 of 1 expected texts are too short for chunks of 60 tokens")
    strict = recallbench.evaluate([case], lambda q, k: said, 2, match="tokens", match_threshold=0.7, match_chunk=60)
    assert strict.recall == 0.0
    exact = recallbench.evaluate([case], lambda q, k: said, 2, match="exact", match_chunk=60)
    assert (exact.mrr, exact.notes) == (1.0, ())
