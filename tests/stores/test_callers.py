"""Several callers of one store at a time: handles answer as the store does, and closing one drops nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from recallbench.stores.bm25 import BM25Store
from recallbench.stores.exact import ExactStore
from recallbench.stores.outside.callable import CallableStore
from recallbench.stores.outside.http import HttpStore
from recallbench.stores.store import Hit, Item, Query, Store
from scripted_server import scripted_server

ITEMS = [Item(1, 1, "red fox", None, 0.5), Item(2, 1, "blue owl", None, 0.5), Item(3, 1, "red owl", None, 0.5)]
VECTORS = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
QUERIES = [
    Query(1, text, np.array(vector, np.float32)) for text, vector in (("fox", (1, 0)), ("owl", (0, 1)), ("red", (2, 1)))
]
SEVERAL = """
class Memory:
    several_callers = True
    closed = 0
    def __init__(self):
        self.texts = {}
    def add(self, id, text):
        self.texts[id] = text
    def search(self, query, k):
        return [(id, 1.0) for id, text in self.texts.items() if query in text][:k]
    def close(self):
        Memory.closed += 1

class Single(Memory):
    several_callers = False

class Awaited(Memory):
    async def search(self, query, k):
        return []
"""


def filled(store: Store) -> Store:
    store.prepare(2 if store.needs_vectors else 0)
    store.ingest(ITEMS, VECTORS if store.needs_vectors else None)
    store.ready()
    return store


def at_once(stores: Sequence[Store]) -> list[list[list[Hit]]]:
    """Return the answers of all stores, each in a thread of its own, begun at the same time."""
    barrier = Barrier(len(stores))

    def ask(store: Store) -> list[list[Hit]]:
        barrier.wait(10)
        return [store.search(query, 2) for _ in range(20) for query in QUERIES]

    with ThreadPoolExecutor(len(stores)) as threads:
        return list(threads.map(ask, stores))


def check_handles(store: Store) -> None:
    expected = [store.search(query, 2) for _ in range(20) for query in QUERIES]
    handles = [store.another_caller() for _ in range(3)]
    assert store.one_caller == ""
    answers = at_once([store, *(handle for handle in handles if handle is not None)])
    assert answers == [expected] * 4
    for handle in handles:
        assert handle is not None
        handle.close()
    assert [store.search(query, 2) for query in QUERIES] == expected[:3]


@pytest.fixture
def memory(tmp_path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "own_callers.py").write_text(SEVERAL)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    __import__("sys").modules.pop("own_callers", None)


@pytest.mark.parametrize("store", [ExactStore(), BM25Store()], ids=["exact", "bm25"])
def test_a_store_in_memory_takes_several_callers_and_has_no_round_trip(store: Store) -> None:
    check_handles(filled(store))
    assert not store.round_trip()


def test_an_own_class_takes_several_callers_where_it_says_so(memory: None) -> None:
    store = filled(CallableStore("own_callers:Memory"))
    check_handles(store)
    module = __import__("own_callers")
    assert module.Memory.closed == 0
    store.close()
    assert module.Memory.closed == 1


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Single", "its class does not declare `several_callers = True`"),
        ("Awaited", "its methods are asynchronous, and all are awaited in one event loop"),
    ],
)
def test_an_own_class_that_takes_one_caller_says_why(memory: None, name: str, why: str) -> None:
    store = filled(CallableStore(f"own_callers:{name}"))
    assert (store.another_caller(), store.one_caller) == (None, why)


def test_a_service_takes_several_callers_unless_it_says_otherwise() -> None:
    with scripted_server() as script:
        version: dict[str, object] = {"version": "3"}
        answers = {"/version": version, "/search": {"hits": [{"id": 2, "score": 0.5}]}}
        script.answer = lambda path, body: answers.get(path, {})
        store = filled(HttpStore(script.address, {}))
        check_handles(store)
        assert script.requested("/forget") == []
        before = len(script.requested("/version"))
        assert store.round_trip()
        assert len(script.requested("/version")) == before + 1
        store.close()
        assert len(script.requested("/forget")) == 1
        version["several_callers"] = False
        single = filled(HttpStore(script.address, {}))
        assert (single.another_caller(), single.one_caller) == (
            None,
            'the service says "several_callers": false in /version',
        )
