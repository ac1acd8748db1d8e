from __future__ import annotations

import numpy as np
import pytest

from recallbench.errors import InputError
from recallbench.stores.exact import ExactStore
from recallbench.stores.store import Hit, Item, Query


def item(number: int, scope: int = 1) -> Item:
    return Item(number, scope, "text", None, 0.5)


def query(*numbers: float, scope: int = 1) -> Query:
    return Query(scope, "question", np.array(numbers, np.float32))


@pytest.fixture
def store() -> ExactStore:
    store = ExactStore()
    store.prepare(2)
    store.ingest([item(4), item(5), item(6)], np.array([[0, 2], [3, 4], [1, 0]], np.float32))
    return store


def test_cosine_is_exact(store: ExactStore) -> None:
    assert store.search(query(10, 0), 5) == [Hit(6, 1.0), Hit(5, 0.6), Hit(4, 0.0)]


def test_at_most_k_hits_come_back(store: ExactStore) -> None:
    assert [hit.id for hit in store.search(query(10, 0), 2)] == [6, 5]


def test_another_scope_is_never_seen(store: ExactStore) -> None:
    store.ingest([item(9, scope=2)], np.array([[1, 0]], np.float32))
    assert [hit.id for hit in store.search(query(1, 0, scope=2), 5)] == [9]
    assert 9 not in [hit.id for hit in store.search(query(1, 0), 5)]
    assert store.search(query(1, 0, scope=3), 5) == []


def test_equal_scores_go_by_id() -> None:
    # An odd width and count, so that a blocked matrix product would treat rows differently.
    random = np.random.default_rng(5)
    row = random.standard_normal(385).astype(np.float32)
    store = ExactStore()
    store.prepare(385)
    store.ingest([item(n) for n in reversed(range(37))], np.tile(row, (37, 1)))
    question = Query(1, "", random.standard_normal(385).astype(np.float32))
    hits = store.search(question, 50)
    assert [hit.id for hit in hits] == list(range(37))
    assert len({hit.score for hit in hits}) == 1


def test_bulk_and_single_searches_are_identical_and_prefix_stable() -> None:
    random = np.random.default_rng(6)
    store = ExactStore()
    store.prepare(33)
    store.ingest([item(n) for n in range(30)], random.standard_normal((30, 33)).astype(np.float32))
    questions = [Query(1, "", row) for row in random.standard_normal((600, 33)).astype(np.float32)]
    many = list(store.search_many(questions, 50))
    assert many == [store.search(question, 50) for question in questions]
    assert store.prefix_stable
    assert [hits[:10] for hits in many] == list(store.search_many(questions, 10))


def test_forgetting_a_scope_leaves_the_others(store: ExactStore) -> None:
    assert store.one_scope_at_a_time
    store.ingest([item(9, scope=2)], np.array([[1, 0]], np.float32))
    store.forget(1)
    assert store.search(query(1, 0), 5) == []
    assert len(store.search(query(1, 0, scope=2), 5)) == 1


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([[0, 0], [1, 1]], "only zeros"),
        ([[np.nan, 0], [1, 1]], "NaN"),
        ([[np.inf, 0], [1, 1]], "infinity"),
        ([[1, 1, 1], [1, 1, 1]], "2 x 3"),
        ([[1, 1]], "1 x 2"),
    ],
)
def test_segments_that_cannot_be_compared_are_refused(rows: list[list[float]], complaint: str) -> None:
    store = ExactStore()
    store.prepare(2)
    with pytest.raises(InputError) as caught:
        store.ingest([item(7), item(8)], np.array(rows, np.float32))
    assert complaint in caught.value.found


def test_a_bad_segment_is_named() -> None:
    store = ExactStore()
    store.prepare(2)
    with pytest.raises(InputError, match=r"segment 8 \(scope 3\)"):
        store.ingest([item(7, 3), item(8, 3)], np.array([[1, 1], [0, 0]], np.float32))


@pytest.mark.parametrize(
    ("vector", "complaint"), [([0, 0], "only zeros"), ([np.nan, 1], "NaN"), ([1, 2, 3], "3"), (None, "no vector")]
)
def test_questions_that_cannot_be_compared_are_refused(
    store: ExactStore, vector: list[float] | None, complaint: str
) -> None:
    question = Query(1, "who?", None if vector is None else np.array(vector, np.float32))
    with pytest.raises(InputError, match=r"who\?") as caught:
        store.search(question, 5)
    assert complaint in caught.value.found
