from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import psycopg
import pytest
import reference_score

from recallbench.stores.exact import ExactStore
from recallbench.stores.pgvector.lexicon import sessions_for
from recallbench.stores.store import Item, Matrix, Query
from stores.pgvector_corpus import DIMS, ITEMS, QUERIES, START, VECTORS, corpus


@pytest.fixture(scope="module")
def lexemes(dsn: str) -> Iterator[Callable[[str], dict[str, int]]]:
    with psycopg.connect(dsn, autocommit=True) as connection:

        def count(text: str) -> dict[str, int]:
            query = "SELECT lexeme, cardinality(positions) FROM unnest(to_tsvector('english', %s))"
            return dict(connection.execute(query, (text,)).fetchall())

        yield count


def of_scope(scope: int) -> tuple[list[Item], Matrix]:
    rows = [row for row, item in enumerate(ITEMS) if item.scope == scope]
    return [ITEMS[row] for row in rows], VECTORS[rows]


@pytest.mark.parametrize(
    "weights",
    [
        "cosine",
        "bm25",
        "recency",
        "importance",
        "cosine=1,graph=0.5",
        "bm25=1,graph=10",
        "recency=2,importance=0.5",
        "cosine=1,bm25=0.5,recency=0.05,importance=0.05,graph=0.05",
        "cosine=0.25,bm25=3,recency=1.5,importance=0.75,graph=0.125",
    ],
)
def test_score_equals_an_independent_implementation(filled, lexemes, weights: str) -> None:
    store = filled(weights)
    factors = {name: float(number or 1) for name, _, number in (part.partition("=") for part in weights.split(","))}
    seen = 0
    for query, hits in zip(QUERIES, store.search_many(QUERIES, 50), strict=True):
        items, vectors = of_scope(query.scope)
        expected = reference_score.ranked(items, reference_score.parts(items, vectors, query, lexemes), factors)
        assert {hit.id: hit.score for hit in hits} == pytest.approx(expected, abs=2e-6)
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.id))
        seen += len(hits)
    assert seen == len(QUERIES) * 17


def test_lexical_part_is_exact_in_float64(filled, lexemes) -> None:
    store = filled("bm25")
    for query, hits in zip(QUERIES, store.search_many(QUERIES, 50), strict=True):
        items, vectors = of_scope(query.scope)
        parts = reference_score.parts(items, vectors, query, lexemes)
        expected = {item.id: values["bm25"] for item, values in zip(items, parts, strict=True)}
        assert {hit.id: hit.score for hit in hits} == pytest.approx(expected, abs=1e-11)


def test_cosine_alone_is_exactly_the_servers_cosine(filled, dsn: str) -> None:
    query = QUERIES[0]
    assert query.vector is not None
    ours = {hit.id: hit.score for hit in filled("cosine").search(query, 50)}
    items, vectors = of_scope(query.scope)
    with psycopg.connect(dsn) as connection:
        for item, vector in zip(items, vectors, strict=True):
            sql = "SELECT 1 - (%s::vector <=> %s::vector)"
            row = connection.execute(sql, (str(vector.tolist()), str(query.vector.tolist()))).fetchone()
            assert row == (ours[item.id],)


def test_cosine_alone_ranks_as_the_exact_store_does(filled) -> None:
    exact = ExactStore()
    exact.prepare(DIMS)
    exact.ingest(ITEMS, VECTORS)
    for query, hits in zip(QUERIES, filled("cosine").search_many(QUERIES, 50), strict=True):
        expected = exact.search(query, 50)
        known = {hit.id: hit.score for hit in expected}
        assert len(hits) == len(expected)
        for ours, theirs in zip(hits, expected, strict=True):
            assert ours.id == theirs.id or abs(known[ours.id] - theirs.score) < 1e-6


def test_equal_scores_go_by_id(filled) -> None:
    # Segments 2 and 3 have one text and one vector.
    for weights in ("cosine", "cosine,bm25"):
        order = [hit.id for hit in filled(weights).search(QUERIES[0], 50)]
        assert order.index(3) == order.index(2) + 1


@pytest.mark.parametrize("weights", ["cosine", None])
def test_single_and_bulk_searches_are_equal_to_the_last_bit(filled, weights: str | None) -> None:
    store = filled(weights)
    questions = QUERIES * 20
    assert len(questions) > 2 * 256
    assert list(store.search_many(questions, 50)) == [store.search(query, 50) for query in questions]


@pytest.mark.parametrize("weights", ["cosine", None])
def test_rankings_are_prefix_stable(filled, weights: str | None) -> None:
    store = filled(weights)
    assert store.prefix_stable
    deep = list(store.search_many(QUERIES, 50))
    for k in (1, 3, 10):
        assert list(store.search_many(QUERIES, k)) == [hits[:k] for hits in deep]


def test_another_scope_is_never_seen(filled) -> None:
    for query, hits in zip(QUERIES, filled().search_many(QUERIES, 50), strict=True):
        assert {hit.id // 1000 for hit in hits} == {query.scope}
    assert filled().search(replace(QUERIES[0], scope=77), 50) == []


def test_a_word_of_another_scope_changes_nothing(filled) -> None:
    items, vectors = of_scope(0)
    alone = list(filled("bm25", items, vectors).search_many(QUERIES[:12], 50))
    assert alone == list(filled("bm25").search_many(QUERIES[:12], 50))


def dated(*dates: datetime | None) -> tuple[list[Item], Matrix]:
    return [Item(n, 1, "x", date, 0.5) for n, date in enumerate(dates)], np.ones((len(dates), 2), np.float32)


def test_recency_halves_in_30_days(filled) -> None:
    items, vectors = dated(START, START - timedelta(days=30), START + timedelta(days=5), None)
    store = filled("recency", items, vectors)
    vector = vectors[0]
    scores = {hit.id: hit.score for hit in store.search(Query(1, "", vector, START), 4)}
    # At the question; one half-life before; after it, which is no negative age; without a date.
    assert scores == pytest.approx({0: 1.0, 1: 0.5, 2: 1.0, 3: 0.0})
    undated = {hit.id: hit.score for hit in store.search(Query(1, "", vector, None), 4)}
    assert undated == pytest.approx({0: 2 ** (-5 / 30), 1: 2 ** (-35 / 30), 2: 1.0, 3: 0.0})


def test_recency_takes_a_time_without_zone_as_utc(filled) -> None:
    items, vectors = dated(START, START.replace(tzinfo=UTC))
    scores = {hit.score for hit in filled("recency", items, vectors).search(Query(1, "", vectors[0], START), 2)}
    assert scores == {1.0}


def test_a_scope_without_any_date_has_no_recency(filled) -> None:
    items, vectors = dated(None, None)
    hits = filled("recency,cosine=0.5", items, vectors).search(Query(1, "", vectors[0]), 2)
    assert [hit.score for hit in hits] == pytest.approx([0.5, 0.5])


def test_neighbours_of_the_best_five_get_the_weight_of_graph(filled) -> None:
    # By importance the best five are 0, 2, 4, 8 and 9; 11 is no neighbour of 9, nor 20 of anything.
    importance = {0: 0.9, 1: 0.1, 2: 0.8, 3: 0.2, 4: 0.7, 8: 0.6, 9: 0.5, 11: 0.3, 20: 0.4}
    items = [Item(n, 1, "x", None, value) for n, value in importance.items()]
    store = filled("importance,graph=10", items, np.ones((len(items), 2), np.float32))
    hits = {hit.id: hit.score for hit in store.search(Query(1, "", np.ones(2, np.float32)), 50)}
    linked = {id for id, score in hits.items() if score >= 10}
    assert linked == {1, 3, 8, 9}
    assert hits == pytest.approx({id: value + 10 * (id in linked) for id, value in importance.items()})


def test_many_scopes_are_indexed_by_several_sessions_alike(filled) -> None:
    items, vectors, queries = corpus(scopes=60, size=4)
    if (os.cpu_count() or 1) > 1:
        assert sessions_for(60) > 1
    hits = list(filled("bm25", items, vectors).search_many(queries, 50))
    for scope in (0, 31, 59):
        rows = [row for row, item in enumerate(items) if item.scope == scope]
        alone = filled("bm25", [items[row] for row in rows], vectors[rows])
        for query, expected in zip(queries, hits, strict=True):
            if query.scope == scope:
                assert alone.search(query, 50) == expected


def test_no_shared_word_gives_no_lexical_score(filled) -> None:
    store = filled("bm25,cosine=0.001")
    for text in ("zebra", "", "the of and", "!?", "💥"):
        hits = store.search(replace(QUERIES[0], text=text), 50)
        assert max(abs(hit.score) for hit in hits) <= 0.001


def test_awkward_texts_are_stored_and_searched(filled) -> None:
    # Too long for a tsvector, a word too long for a lexeme, NUL, half a surrogate pair, nothing at all.
    many = " ".join(f"word{n}" for n in range(120_000))
    texts = [many + " needle", "x" * 3000 + " needle", "a\0needle", "needle \ud800 end", "", "other"]
    items = [Item(n, 1, text, None, 0.5) for n, text in enumerate(texts)]
    store = filled("bm25,cosine=0.0001", items, np.ones((len(items), 2), np.float32))
    hits = {hit.id: hit.score for hit in store.search(Query(1, "the Needles\0", np.ones(2, np.float32)), 50)}
    assert {id for id, score in hits.items() if score > 0.001} == {0, 1, 2, 3}


ODD = (
    "Café well-known well-known-cat 3.14 1e5 -7 v1.2.3 https://example.org/a-b/c?d=e me@example.org /usr/lib/x "
    f'<a href="no word">the linked words</a> &amp; dogs dog\'s {"y" * 2500} ÀÉÎ x_y _z 二 кошки running'
)
"""A bit of everything that the parser tells apart, with a word too long to be indexed."""


@pytest.mark.parametrize("text", [ODD, "", " ".join(f"w{n % 900}" for n in range(16_500)), "hay " * 60_000])
@pytest.mark.parametrize("times", [3, 254, 255, 256, 400, 3000])
def test_a_long_text_is_counted_to_its_end(filled, lexemes, times: int, text: str) -> None:
    # A tsvector counts to 255 and to place 16383: what goes beyond must count alike, for `cat` and for all the others.
    def counts(content: str) -> dict[str, int]:
        if content != long:
            return lexemes(content)
        rest = lexemes(text) if text == ODD else Counter(text.split())
        return Counter(rest) + Counter(cat=times, dog=1)

    long = f"{text}{' cat' * times} dog"
    texts = [long, "cat straw dog", "hay hay cat", "hay running", "w7 café example.org", "words"]
    items = [Item(n, 1, text, None, 0.5) for n, text in enumerate(texts)]
    vectors = np.ones((len(items), 2), np.float32)
    store = filled("bm25", items, vectors)
    for question in ("cat", "cats and hay", "dog w7", "run to a well-known café at example.org", "words"):
        query = Query(1, question, vectors[0])
        parts = reference_score.parts(items, vectors, query, counts)
        hits = {hit.id: hit.score for hit in store.search(query, 50)}
        assert hits == pytest.approx({n: values["bm25"] for n, values in enumerate(parts)}, abs=1e-11)


def test_segments_without_any_word_count_in_the_statistics(filled, lexemes) -> None:
    texts = ["red fox", "fox fox fox owl", "", "the of and", "!", "owl"]
    items = [Item(n, 1, text, None, 0.5) for n, text in enumerate(texts)]
    vectors = np.ones((len(items), 2), np.float32)
    query = Query(1, "a red owl, a fox", vectors[0])
    parts = reference_score.parts(items, vectors, query, lexemes)
    hits = {hit.id: hit.score for hit in filled("bm25", items, vectors).search(query, 50)}
    assert hits == pytest.approx({n: values["bm25"] for n, values in enumerate(parts)}, abs=1e-11)
    assert [hits[n] for n in (2, 3, 4)] == [0, 0, 0]
