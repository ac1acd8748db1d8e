"""Legs of several pipelines: filled once, searched once for each question, and as slow for each of them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from recallbench.errors import InputError
from recallbench.retrieval.pipeline.opening import open_pipeline
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.retrieval.pipeline.shared_legs import SharedLegs
from recallbench.stores.bm25 import BM25Store
from recallbench.stores.store import Hit, Item, Matrix, Query, Store

ITEMS = [
    Item(1, 1, "a red fox", None, 0.5),
    Item(2, 1, "a blue bird", None, 0.5),
    Item(3, 1, "red and blue", None, 0.5),
]
QUERIES = [Query(1, "red", None), Query(1, "blue bird", None)]
PAUSE = 0.02


class Counting(Store):
    """Notes what it is asked, and takes its time."""

    name = "counting"
    needs_vectors = False
    prefix_stable: bool = True

    def __init__(self, fails: bool = False) -> None:
        self.inner, self.did, self.fails = BM25Store(), list[str](), fails

    def prepare(self, dims: int) -> None:
        self.inner.prepare(dims)

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        if self.fails:
            raise InputError("no room")
        self.did.append("ingest")
        self.inner.ingest(items, vectors)

    def search(self, query: Query, k: int) -> list[Hit]:
        self.did.append(query.text)
        time.sleep(PAUSE)
        return self.inner.search(query, k)

    def version(self) -> str:
        return "counting/1"

    def settings(self) -> Mapping[str, str]:
        return {}

    def close(self) -> None:
        self.did.append("close")


def pipeline(k: int) -> Pipeline:
    leg = {"kind": "search", "method": "store", "depth": 3}
    return Pipeline.of([leg, {"kind": "search", "method": "lexical"}, {"kind": "fuse", "method": "rrf", "k": k}])


def opened(k: int, legs: SharedLegs, store: Store, place: Path) -> Store:
    return open_pipeline(pipeline(k), lambda options: store, None, environ={}, cache_dir=place, shared=legs)


def test_a_leg_is_filled_and_searched_once_for_all_pipelines(tmp_path: Path) -> None:
    alone, legs, counting = Counting(), SharedLegs(), Counting()
    expected = open_pipeline(pipeline(60), lambda options: alone, None, environ={}, cache_dir=tmp_path)
    answers = []
    for store in (expected, opened(1, legs, counting, tmp_path), opened(60, legs, counting, tmp_path)):
        store.prepare(0)
        store.ingest(ITEMS, None)
        store.ready()
        answers.append([[tuple(hit) for hit in hits] for hits in store.search_many(QUERIES, 3)])
        store.close()
    assert answers[0] == answers[2]
    assert counting.did == ["ingest", "red", "blue bird"]
    legs.close()
    assert counting.did[-1] == "close"


def test_a_kept_search_is_as_slow_as_it_was(tmp_path: Path) -> None:
    legs, counting = SharedLegs(), Counting()
    for k in (1, 60):
        store = open_pipeline(pipeline(k), lambda options: counting, None, environ={}, cache_dir=tmp_path, shared=legs)
        store.prepare(0)
        store.ingest(ITEMS, None)
        store.ready()
        list(store.search_many(QUERIES, 3))
        store.search(QUERIES[0], 3)
        if k == 60:
            assert store.last_waited() >= PAUSE
            assert store.last_seconds()["store"] >= PAUSE
        else:
            assert store.last_waited() == 0
    # Each text once for all; one of them once more by itself, to be timed warm.
    assert counting.did == ["ingest", "red", "blue bird", "red"]


def test_a_leg_that_could_not_be_filled_is_opened_anew(tmp_path: Path) -> None:
    legs = SharedLegs()
    broken = opened(1, legs, Counting(fails=True), tmp_path)
    broken.prepare(0)
    with pytest.raises(InputError, match="no room"):
        broken.ingest(ITEMS, None)
    whole = Counting()
    store = opened(60, legs, whole, tmp_path)
    store.prepare(0)
    store.ingest(ITEMS, None)
    store.ready()
    assert store.search(QUERIES[0], 1)
    assert whole.did == ["ingest", "red"]
