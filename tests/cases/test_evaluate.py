"""`recallbench.evaluate` as its users call it."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import json
import sqlite3
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import recallbench
from cases.three_cases import CASES, RANKED, evaluate_in_a_loop, retrieve, retrieve_async
from recallbench import BelowThreshold, Case, RecallBenchError
from recallbench.corpora.matching.method import Matching
from recallbench.errors import InputError, UsageError


def test_three_queries_by_hand() -> None:
    report = recallbench.evaluate(CASES, retrieve, k=3)
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
    assert str(recallbench.evaluate(CASES, retrieve, k=3)) == (
        "recall_frac@3 1.0000, precision@3 0.4444, mrr@3 0.7778, ndcg@3 0.8066, f1@3 0.6000, f1_of_means@3 0.6154 "
        "over 3 cases; matching: id"
    )


async def _in_a_loop(retriever: Callable[..., Any]) -> recallbench.Report:
    return recallbench.evaluate(CASES, retriever, k=3)


class Client:
    async def __call__(self, query: str, k: int) -> list[str]:
        return await retrieve_async(query, k)

    async def search(self, query: str, k: int) -> list[str]:
        return await retrieve_async(query, k)


WAYS: dict[str, Callable[[], recallbench.Report]] = {
    "pairs": lambda: recallbench.evaluate(CASES, lambda q, k: [(id, -n) for n, id in enumerate(RANKED[q])], 3),
    "numpy": lambda: recallbench.evaluate(CASES, lambda q, k: np.array(RANKED[q]), 3),
    "numpy scores": lambda: recallbench.evaluate(
        CASES, lambda q, k: list(zip(RANKED[q], np.float32([3, 2, 1]), strict=True)), 3
    ),
    "a generator": lambda: recallbench.evaluate(CASES, lambda q, k: (id for id in RANKED[q]), 3),
    "no limit": lambda: recallbench.evaluate(CASES, retrieve, 3, timeout=None),
    "threads": lambda: recallbench.evaluate(CASES, retrieve, 3, concurrency=2),
    "async": lambda: recallbench.evaluate(CASES, retrieve_async, 3),
    "async, several": lambda: recallbench.evaluate(CASES, retrieve_async, 3, concurrency=3, timeout=None),
    "async method": lambda: recallbench.evaluate(CASES, Client().search, 3),
    "async object": lambda: recallbench.evaluate(CASES, Client(), 3),
    "async partial": lambda: recallbench.evaluate(CASES, functools.partial(retrieve_async), 3),
    "a lambda that is async": lambda: recallbench.evaluate(CASES, lambda q, k: retrieve_async(q, k), 3),
    "such a lambda in threads": lambda: recallbench.evaluate(
        CASES, lambda q, k: retrieve_async(q, k), 3, concurrency=2
    ),
    "sync in a loop": lambda: asyncio.run(_in_a_loop(retrieve)),
    "async in a loop": lambda: asyncio.run(_in_a_loop(retrieve_async)),
    "awaited": lambda: evaluate_in_a_loop(retrieve_async),
    "awaited, several": lambda: evaluate_in_a_loop(retrieve_async, concurrency=3),
    "awaited, sync": lambda: evaluate_in_a_loop(retrieve),
    "cases from a generator": lambda: recallbench.evaluate((case for case in CASES), retrieve, 3),
    "a worker thread": lambda: _elsewhere(lambda: recallbench.evaluate(CASES, retrieve, 3)),
}


def _elsewhere(call: Callable[[], recallbench.Report]) -> recallbench.Report:
    reports: list[recallbench.Report] = []
    thread = threading.Thread(target=lambda: reports.append(call()))
    thread.start()
    thread.join()
    return reports[0]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_call_it_gives_the_same_report(way: str) -> None:
    expected = recallbench.evaluate(CASES, retrieve, 3)
    report = WAYS[way]()
    assert str(report) == str(expected)
    assert [row.values for row in report.rows] == [row.values for row in expected.rows]


def test_an_async_client_may_belong_to_the_running_loop() -> None:
    async def main() -> recallbench.Report:
        lock, loop = asyncio.Lock(), asyncio.get_running_loop()

        async def own(query: str, k: int) -> list[str]:
            assert asyncio.get_running_loop() is loop
            async with lock:
                return await retrieve_async(query, k)

        return await recallbench.evaluate_async(CASES, own, 3, concurrency=3)

    assert asyncio.run(main()).recall == 1.0


def test_calls_come_from_the_calling_thread() -> None:
    database = sqlite3.connect(":memory:")  # refuses any other thread
    report = recallbench.evaluate(CASES, lambda q, k: [row[0] for row in database.execute("select 'acme'")], 3)
    assert report.value("recall_any@3") == pytest.approx(2 / 3)


def test_the_context_goes_along_into_threads() -> None:
    tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant")
    tenant.set("acme")
    assert recallbench.evaluate(CASES, lambda q, k: [tenant.get()], 3, concurrency=2).recall == pytest.approx(0.5)


@pytest.mark.parametrize("k", [0, -1, 2.0, "3", True, None])
def test_a_k_that_is_no_depth_is_refused(k: Any) -> None:
    with pytest.raises(UsageError, match="k is how many hits"):
        recallbench.evaluate(CASES, retrieve, k)


@pytest.mark.parametrize(
    "more",
    [{"timeout": 0}, {"timeout": float("nan")}, {"concurrency": 0}, {"match": "words"}, {"match_chunk": 60},
     {"candidates": 0}, {"match": "tokens", "match_threshold": 2}, {"match": "exact", "match_threshold": 0.5},
     {"match_threshold": 0.3}, {"match": Matching("tokens", 0.4), "match_threshold": 0.5},
     {"match": Matching("tokens", 0.4), "match_chunk": 60}],
)  # fmt: skip
def test_invalid_options_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        recallbench.evaluate(CASES, retrieve, 3, **more)


def test_invalid_cases_are_refused() -> None:
    with pytest.raises(UsageError, match="nothing to evaluate"):
        recallbench.evaluate([], retrieve, 3)
    with pytest.raises(InputError, match="entry 1 of the cases"):
        recallbench.evaluate([CASES[0], 7], retrieve, 3)  # type: ignore[list-item]
    with pytest.raises(InputError, match="case `a`: an id that two cases have"):
        recallbench.evaluate([Case("q", [1], id="a"), Case("r", [2], id="a")], retrieve, 3)
    with pytest.raises(InputError, match="case `work\\?`: a query that two cases have"):
        recallbench.evaluate(CASES + CASES[:1], retrieve, 3)
    with pytest.raises(InputError, match="case `work\\?`: a query that two cases have"):
        asyncio.run(recallbench.evaluate_async([*CASES, Case("work?", ["q3"])], retrieve_async, 3))
    # A query may be asked for two tenants, each with an id.
    both = [Case("work?", ["acme"], id="t1"), Case("work?", ["q3"], id="t2")]
    assert recallbench.evaluate(both, retrieve, 3).recall == 0.5
    with pytest.raises(UsageError, match="retrieve is a function"):
        recallbench.evaluate(CASES, "found", 3)  # type: ignore[call-overload]

    class Memory:
        def search(self, query: str, k: int) -> list[str]:
            return retrieve(query, k)

    with pytest.raises(UsageError, match="give its method `search`"):
        recallbench.evaluate(CASES, Memory(), 3)  # type: ignore[call-overload]


def test_ids_of_any_kind_that_can_be_hashed() -> None:
    cases = [Case("a", {1, 2}), Case("b", [frozenset("x")])]
    report = recallbench.evaluate(cases, lambda q, k: [np.int64(2), 9] if q == "a" else [frozenset("x")], 2)
    assert [row.values["recall_frac@2"] for row in report.rows] == [0.5, 1.0]


def test_ids_that_can_never_match_are_no_recall_of_0() -> None:
    with pytest.raises(InputError, match="no id that came back can ever be a relevant one"):
        recallbench.evaluate([Case("a", ["1"])], lambda q, k: [1, 2], 2)
    assert recallbench.evaluate([Case("a", ["1"])], lambda q, k: ["2"], 2).recall == 0.0


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
    assert "\n1 that should find nothing, in no mean\n" in repr(report)
    assert "with nothing to find" not in repr(report)
    assert recallbench.evaluate(cases, lambda q, k: ["x"], 3).abstention is None


def test_json_states_abstention() -> None:
    cases = [Case("a", ["x"]), Case("n", kind="abstention")]
    document = json.loads(recallbench.evaluate(cases, lambda q, k: [("x", float(q == "a"))], 1).table("json"))
    expected = {"n": 1, "answerable": 1, "threshold": 1.0, "false_retrieval": 0.0, "auroc": 1.0}
    assert document["abstention"] == expected
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
    assert recallbench.evaluate(CASES, retrieve, 3).estimate("recall_frac@3").chance is None
    report = recallbench.evaluate(CASES, retrieve, 3, candidates=30)
    assert report.estimate("recall_frac@3").chance == pytest.approx(0.1)
    with pytest.raises(InputError, match="more items than there are candidates"):
        recallbench.evaluate(CASES, retrieve, 3, candidates=2)


def test_errors_can_be_caught_as_recallbench_errors() -> None:
    with pytest.raises(RecallBenchError):
        recallbench.evaluate(CASES, retrieve, 0)
