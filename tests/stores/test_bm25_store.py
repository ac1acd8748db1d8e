from __future__ import annotations

import math

import pytest

from recallbench.stores.bm25 import BM25Store
from recallbench.stores.store import Item, Query


def store_of(*texts: str, scope: int = 1) -> BM25Store:
    store = BM25Store()
    store.prepare(0)
    store.ingest([Item(10 + n, scope, text, None, 0.5) for n, text in enumerate(texts)], None)
    return store


def test_score_is_bm25_worked_by_hand() -> None:
    hits = store_of("red fox", "red red hen hen", "blue owl").search(Query(1, "Red?", None), 3)
    # 3 segments, `red` in 2 of them, lengths 2, 4, 2, mean 8/3; k1 1.2, b .75.
    idf = math.log(1 + 1.5 / 2.5)
    once = idf * 1 / (1 + 1.2 * (0.25 + 0.75 * 2 / (8 / 3)))
    twice = idf * 2 / (2 + 1.2 * (0.25 + 0.75 * 4 / (8 / 3)))
    assert [hit.id for hit in hits] == [11, 10, 12]
    assert [hit.score for hit in hits] == pytest.approx([twice, once, 0], abs=1e-12)


def test_ties_go_by_id_and_segments_without_a_shared_word_stay() -> None:
    store = store_of("owl", "red fox", "red fox", "crow crow")
    assert [hit.id for hit in store.search(Query(1, "fox", None), 50)] == [11, 12, 10, 13]
    assert [hit.id for hit in store.search(Query(1, "zebra", None), 50)] == [10, 11, 12, 13]
    assert [hit.id for hit in store.search(Query(1, "", None), 2)] == [10, 11]


def test_many_ties_go_by_id() -> None:
    # An unstable sort keeps up to 16 equal scores in order by luck.
    store = store_of(*("red fox" if n % 3 else "blue owl" for n in range(48)))
    foxes, owls = [10 + n for n in range(48) if n % 3], [10 + n for n in range(0, 48, 3)]
    assert [hit.id for hit in store.search(Query(1, "fox", None), 50)] == foxes + owls
    assert [hit.id for hit in store.search(Query(1, "zebra", None), 50)] == [10 + n for n in range(48)]


def test_a_scope_without_any_word_is_searched() -> None:
    assert [hit.score for hit in store_of("!", "?").search(Query(1, "what is it", None), 5)] == [0.0, 0.0]


def test_statistics_are_those_of_the_scope() -> None:
    store = store_of("red fox", "blue owl")
    before = store.search(Query(1, "fox", None), 5)
    store.ingest([Item(90 + n, 2, "fox fox fox", None, 0.5) for n in range(20)], None)
    assert store.search(Query(1, "fox", None), 5) == before
    store.forget(1)
    assert store.search(Query(1, "fox", None), 5) == []
    assert len(store.search(Query(2, "fox", None), 50)) == 20


def test_prefix_stable_and_the_same_in_bulk() -> None:
    store = store_of(*(f"word{n % 7} word{n % 3} word{n % 5}" for n in range(60)))
    questions = [Query(1, f"word{n} word{n + 2}", None) for n in range(7)]
    deep = list(store.search_many(questions, 50))
    assert store.prefix_stable
    assert not store.needs_vectors
    assert [hits[:10] for hits in deep] == [store.search(question, 10) for question in questions]


def test_settings_state_the_parameters_of_bm25() -> None:
    settings = BM25Store().settings()
    assert (settings["bm25.k1"], settings["bm25.b"], settings["bm25.method"]) == ("1.2", "0.75", "lucene")
