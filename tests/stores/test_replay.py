"""Stores that are replayed: what was said goes in one by one, and each question is asked when its moment has come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from example_server import example_server
from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.embedding.hashing import HashEmbedder
from recallbench.errors import InputError, UsageError
from recallbench.progress import Silent
from recallbench.retrieval.loop import retrieve
from recallbench.retrieval.pipeline.opening import open_pipeline
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.retrieval.timing import Timings
from recallbench.stores.bm25 import BM25Store
from recallbench.stores.exact import ExactStore
from recallbench.stores.outside.callable import PythonStore
from recallbench.stores.outside.http import HttpStore
from recallbench.stores.pgmnemo.pgmnemo import PgmnemoStore
from recallbench.stores.registry import filters_time
from recallbench.stores.store import Store
from stores.standin import database

WORDS = ("bread", "guitar", "garden", "train", "harbour", "chess", "tea", "rowing")
SEEN = (3, 0, 8, 3, 10)
"""What each question sees of its scope: not in the order in which they are asked."""

MEMORIES = """
class Memory:
    def __init__(self):
        self.said = []

    def add(self, id: int, text):
        self.said.append((id, set(text.split())))

    def search(self, query, k):
        return self.best(query, k, self.said)

    def best(self, query, k, said):
        scored = [(id, float(len(set(query.split()) & words))) for id, words in said]
        return sorted(scored, key=lambda hit: (-hit[1], hit[0]))[:k]


class Filtering(Memory):
    filters_time = True

    def search(self, query, k, visible):
        return self.best(query, k, self.said[:visible])


class Untold(Memory):
    filters_time = True


class Cheating(Memory):
    filters_time = True

    def search(self, query, k, visible):
        return super().search(query, k)


def opened(items, vectors):
    memory = Memory()
    for item in items:
        memory.add(item.id, item.text)
    return lambda query, k: memory.search(query.text, k)


def filtering(items, vectors):
    memory = Memory()
    for item in items:
        memory.add(item.id, item.text)
    def search(query, k):
        return memory.best(query.text, k, [(id, words) for id, words in memory.said if id in query.visible])
    return search


opened.needs_vectors = filtering.needs_vectors = False
filtering.filters_time = True
"""


def corpus() -> Iterator[Haystack]:
    for scope in ("a", "b"):
        texts = [f"{WORDS[n % 8]} and {WORDS[(n * 5 + 2) % 8]} {scope} {n}" for n in range(10)]
        segments = tuple(Segment(scope, n, text) for n, text in enumerate(texts))
        questions = tuple(
            Question(scope, f"{scope}/{n}", f"{WORDS[n]} {WORDS[n + 2]} {scope}", frozenset({0}), "kind", visible=seen)
            for n, seen in enumerate(SEEN)
        )
        yield Haystack(scope, segments, questions)


def ask(store: Store, *, filters: bool | None = None) -> Retrieval:
    """Return what the store answers; `filters` makes it be asked as one that does, or as one that does not."""
    if filters is not None:
        store.filters_time = filters
    with closing(store):
        return retrieve(
            corpus, store, BM25Store(), HashEmbedder(), expected=10, calls=Calls(2, 5), timings=Timings(),
            progress=Silent(),
        )  # fmt: skip


def hybrid() -> Store:
    stages = [
        {"kind": "search", "method": "dense"},
        {"kind": "search", "method": "lexical"},
        {"kind": "fuse", "method": "rrf"},
        {"kind": "diversify", "method": "mmr"},
    ]
    return open_pipeline(Pipeline.of(stages), lambda own: ExactStore(), None, environ={}, cache_dir=Path())


@pytest.mark.parametrize("opened", [ExactStore, BM25Store, hybrid])
def test_a_store_that_can_do_both_ranks_alike_filtered_and_replayed(opened: Callable[[], Store]) -> None:
    filtered, replayed = ask(opened()), ask(opened(), filters=False)
    assert (filtered.time, replayed.time) == ("filtered", "replayed")
    assert replayed.rankings == filtered.rankings
    assert replayed.control == filtered.control
    assert [trace.question_id for trace in replayed.traces] == [trace.question_id for trace in filtered.traces]
    assert filtered.candidates == [3, 0, 8, 3, 10] * 2
    assert [len(ranking.positions) for ranking in replayed.rankings] == [3, 0, 5, 3, 5] * 2
    assert [ranking.question_id for ranking in replayed.rankings] == [question.id for question in replayed.questions]
    assert replayed.segments == 20


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Store]:
    (tmp_path / "replayed_memories.py").write_text(MEMORIES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "replayed_memories", raising=False)
    return lambda name: PythonStore(f"replayed_memories:{name}", f"python:replayed_memories:{name}")


def test_a_class_or_function_is_replayed_unless_it_says_that_it_filters(memory: Callable[[str], Store]) -> None:
    each = {name: ask(memory(name)) for name in ("Memory", "Filtering", "opened", "filtering")}
    assert {name: asked.time for name, asked in each.items()} == {
        "Memory": "replayed",
        "Filtering": "filtered",
        "opened": "replayed",
        "filtering": "filtered",
    }
    first, *others = each.values()
    assert [len(ranking.positions) for ranking in first.rankings] == [3, 0, 5, 3, 5] * 2
    for other in others:
        assert (other.rankings, other.short) == (first.rankings, first.short)


def test_a_store_that_returns_what_is_yet_to_come_is_named(memory: Callable[[str], Store]) -> None:
    with pytest.raises(InputError, match=r"python:replayed_memories:Cheating answered question a/0 with an item from"):
        ask(memory("Cheating"))
    with pytest.raises(UsageError, match="says filters_time, and its search is not told what was there"):
        memory("Untold")


def test_a_service_is_replayed_unless_it_says_that_it_filters() -> None:
    exact = [ranking.positions for ranking in ask(ExactStore()).rankings]
    for options, way in (((), "replayed"), (("--filters-time",), "filtered")):
        with example_server(*options) as address:
            asked = ask(HttpStore(address, {}))
            assert filters_time(address, environ={}) == (way == "filtered")
        assert asked.time == way
        assert [ranking.positions for ranking in asked.rankings] == exact


def test_pgmnemo_is_replayed(standin: str) -> None:
    with database(standin, "2.0") as dsn:
        replayed = ask(PgmnemoStore(dsn, "recall_fast"))
    assert replayed.time == "replayed"
    assert [ranking.positions for ranking in replayed.rankings] == [
        ranking.positions for ranking in ask(ExactStore()).rankings
    ]


def test_a_store_that_can_do_neither_is_refused_before_anything_goes_in() -> None:
    class Neither(ExactStore):
        name, filters_time, grows = "neither", False, False

        def ingest(self, items: object, vectors: object) -> None:
            raise AssertionError("nothing is to go in")

    with pytest.raises(UsageError, match="the store neither can't be held to what was said before a question"):
        ask(Neither())
