from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import psycopg
import pytest
import reference_score

from heard import Heard
from recallbench.errors import Blocked, InputError, UsageError
from recallbench.stores.exact import ExactStore
from recallbench.stores.lexicon import sessions_for
from recallbench.stores.pgvector import PgvectorStore
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.store import Item, Matrix, Query
from recallbench.stores.weights import DEFAULT_WEIGHTS, WEIGHTS

DIMS = 24
START = datetime(2023, 5, 1, 9, 30)
WORDS = [
    "garden",
    "guitar",
    "Lisbon",
    "marathon",
    "knitting",
    "knitted",
    "runs",
    "running",
    "bakery",
    "dog",
    "dogs",
    "storm",
    "café",
    "the",
    "and",
    "a",
    "of",
]


def corpus(scopes: int = 3, size: int = 17) -> tuple[list[Item], Matrix, list[Query]]:
    """Scopes of sessions with all that may differ: words, dates or none, importance, equal vectors and texts."""
    random = np.random.default_rng(11)
    items, queries = [], []
    for scope in range(scopes):
        for place in range(size):
            words = " ".join(random.choice(WORDS, random.integers(1, 40)))
            date = None if place % 6 == 5 else START + timedelta(days=int(random.integers(0, 300)), hours=place)
            items.append(Item(1000 * scope + place, scope, words, date, float(random.random())))
        for turn in range(12):
            question = "When did the " + " ".join(random.choice(WORDS, 4)) + "?"
            asked_at = START + timedelta(days=150, minutes=turn) if turn % 2 else None
            queries.append(Query(scope, question, None, asked_at))
    vectors = random.standard_normal((len(items), DIMS)).astype(np.float32)
    vectors[3], items[3] = vectors[2], replace(items[3], text=items[2].text)
    rows = random.standard_normal((len(queries), DIMS)).astype(np.float32)
    return items, vectors, [replace(query, vector=row) for query, row in zip(queries, rows, strict=True)]


ITEMS, VECTORS, QUERIES = corpus()


@pytest.fixture
def filled(dsn: str) -> Iterator[Callable[..., PgvectorStore]]:
    opened: list[PgvectorStore] = []

    def fill(weights: str | None = None, items: Sequence[Item] = ITEMS, vectors: Matrix = VECTORS) -> PgvectorStore:
        store = PgvectorStore(dsn, WEIGHTS.read({"weights": weights}))
        opened.append(store)
        store.prepare(vectors.shape[1])
        for scope in dict.fromkeys(item.scope for item in items):
            rows = [row for row, item in enumerate(items) if item.scope == scope]
            store.ingest([items[row] for row in rows], vectors[rows])
        store.ready()
        return store

    yield fill
    for store in opened:
        store.close()


def test_segments_are_counted_as_they_go_in(dsn: str) -> None:
    heard = Heard()
    items, vectors, _ = corpus()
    store = PgvectorStore(dsn, DEFAULT_WEIGHTS, heard)
    store.prepare(vectors.shape[1])
    store.ingest(items, vectors)
    store.ready()
    store.close()
    assert heard.stages == [("taking in segments", 51, "segments", 51), ("lexicon", 3, "scopes", 3)]


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
        found = reference_score.parts(items, vectors, query, lexemes)
        expected = {item.id: values["bm25"] for item, values in zip(items, found, strict=True)}
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
def test_one_by_one_equals_in_bulk_to_the_last_bit(filled, weights: str | None) -> None:
    store = filled(weights)
    questions = QUERIES * 20
    assert len(questions) > 2 * 256
    assert list(store.search_many(questions, 50)) == [store.search(query, 50) for query in questions]


@pytest.mark.parametrize("weights", ["cosine", None])
def test_prefix_stable(filled, weights: str | None) -> None:
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


def test_recency_by_hand(filled) -> None:
    items, vectors = dated(START, START - timedelta(days=30), START + timedelta(days=5), None)
    store = filled("recency", items, vectors)
    vector = vectors[0]
    asked = {hit.id: hit.score for hit in store.search(Query(1, "", vector, START), 4)}
    # At the question; one half-life before; after it, which is no negative age; without a date.
    assert asked == pytest.approx({0: 1.0, 1: 0.5, 2: 1.0, 3: 0.0})
    unasked = {hit.id: hit.score for hit in store.search(Query(1, "", vector, None), 4)}
    assert unasked == pytest.approx({0: 2 ** (-5 / 30), 1: 2 ** (-35 / 30), 2: 1.0, 3: 0.0})


def test_recency_takes_a_time_without_zone_as_utc(filled) -> None:
    items, vectors = dated(START, START.replace(tzinfo=UTC))
    scores = {hit.score for hit in filled("recency", items, vectors).search(Query(1, "", vectors[0], START), 2)}
    assert scores == {1.0}


def test_a_scope_without_any_date_has_no_recency(filled) -> None:
    items, vectors = dated(None, None)
    hits = filled("recency,cosine=0.5", items, vectors).search(Query(1, "", vectors[0]), 2)
    assert [hit.score for hit in hits] == pytest.approx([0.5, 0.5])


def test_graph_by_hand(filled) -> None:
    # By importance the best five are 0, 2, 4, 8 and 9; 11 is no neighbour of 9, nor 20 of anything.
    importance = {0: 0.9, 1: 0.1, 2: 0.8, 3: 0.2, 4: 0.7, 8: 0.6, 9: 0.5, 11: 0.3, 20: 0.4}
    items = [Item(n, 1, "x", None, value) for n, value in importance.items()]
    store = filled("importance,graph=10", items, np.ones((len(items), 2), np.float32))
    hits = {hit.id: hit.score for hit in store.search(Query(1, "", np.ones(2, np.float32)), 50)}
    linked = {one for one, score in hits.items() if score >= 10}
    assert linked == {1, 3, 8, 9}
    assert hits == pytest.approx({one: value + 10 * (one in linked) for one, value in importance.items()})


def test_many_scopes_are_indexed_by_several_sessions_alike(filled) -> None:
    items, vectors, queries = corpus(scopes=60, size=4)
    if (os.cpu_count() or 1) > 1:
        assert sessions_for(60) > 1
    hits = list(filled("bm25", items, vectors).search_many(queries, 50))
    for scope in (0, 31, 59):
        rows = [row for row, item in enumerate(items) if item.scope == scope]
        alone = filled("bm25", [items[row] for row in rows], vectors[rows])
        for query, found in zip(queries, hits, strict=True):
            if query.scope == scope:
                assert alone.search(query, 50) == found


def test_no_shared_word_gives_no_lexical_score(filled) -> None:
    store = filled("bm25,cosine=0.001")
    for text in ("zebra", "", "the of and", "!?", "💥"):
        hits = store.search(replace(QUERIES[0], text=text), 50)
        assert max(abs(hit.score) for hit in hits) <= 0.001


def test_awkward_texts_are_held_and_found(filled) -> None:
    # Too long for a tsvector, a word too long for a lexeme, NUL, half a surrogate pair, nothing at all.
    many = " ".join(f"word{n}" for n in range(120_000))
    texts = [many + " needle", "x" * 3000 + " needle", "a\0needle", "needle \ud800 end", "", "other"]
    items = [Item(n, 1, text, None, 0.5) for n, text in enumerate(texts)]
    store = filled("bm25,cosine=0.0001", items, np.ones((len(items), 2), np.float32))
    hits = {hit.id: hit.score for hit in store.search(Query(1, "the Needles\0", np.ones(2, np.float32)), 50)}
    assert {one for one, score in hits.items() if score > 0.001} == {0, 1, 2, 3}


ODD = (
    "Café well-known well-known-cat 3.14 1e5 -7 v1.2.3 https://example.org/a-b/c?d=e me@example.org /usr/lib/x "
    f'<a href="no word">the linked words</a> &amp; dogs dog\'s {"y" * 2500} ÀÉÎ x_y _z 二 кошки running'
)
"""A bit of everything that the parser tells apart, with a word too long to be indexed."""


@pytest.mark.parametrize("text", [ODD, "", " ".join(f"w{n % 900}" for n in range(16_500)), "hay " * 60_000])
@pytest.mark.parametrize("times", [3, 254, 255, 256, 400, 3000])
def test_a_long_text_is_counted_whole(filled, lexemes, times: int, text: str) -> None:
    # A tsvector counts to 255 and to place 16383: what goes beyond must count alike, for `cat` and for all the others.
    def counted(whole: str) -> dict[str, int]:
        if whole != long:
            return lexemes(whole)
        rest = lexemes(text) if text == ODD else Counter(text.split())
        return Counter(rest) + Counter(cat=times, dog=1)

    long = f"{text}{' cat' * times} dog"
    texts = [long, "cat straw dog", "hay hay cat", "hay running", "w7 café example.org", "words"]
    items = [Item(n, 1, told, None, 0.5) for n, told in enumerate(texts)]
    vectors = np.ones((len(items), 2), np.float32)
    store = filled("bm25", items, vectors)
    for question in ("cat", "cats and hay", "dog w7", "run to a well-known café at example.org", "words"):
        query = Query(1, question, vectors[0])
        found = reference_score.parts(items, vectors, query, counted)
        hits = {hit.id: hit.score for hit in store.search(query, 50)}
        assert hits == pytest.approx({n: values["bm25"] for n, values in enumerate(found)}, abs=1e-11)


def test_segments_without_any_word_count_in_the_statistics(filled, lexemes) -> None:
    texts = ["red fox", "fox fox fox owl", "", "the of and", "!", "owl"]
    items = [Item(n, 1, text, None, 0.5) for n, text in enumerate(texts)]
    vectors = np.ones((len(items), 2), np.float32)
    query = Query(1, "a red owl, a fox", vectors[0])
    found = reference_score.parts(items, vectors, query, lexemes)
    hits = {hit.id: hit.score for hit in filled("bm25", items, vectors).search(query, 50)}
    assert hits == pytest.approx({n: values["bm25"] for n, values in enumerate(found)}, abs=1e-11)
    assert [hits[n] for n in (2, 3, 4)] == [0, 0, 0]


def test_settings_are_read_back_from_the_session(filled) -> None:
    store = filled("cosine=1,bm25=0.5")
    assert store.settings() == {
        "recallbench.weight_cosine": "1.0",
        "recallbench.weight_bm25": "0.5",
        "recallbench.weight_recency": "0.0",
        "recallbench.weight_importance": "0.0",
        "recallbench.weight_graph": "0.0",
        "recallbench.bm25_k1": "1.2",
        "recallbench.bm25_b": "0.75",
        "recallbench.recency_half_life_days": "30",
        "recallbench.graph_best": "5",
        "plan_cache_mode": "force_generic_plan",
        "enable_seqscan": "off",
        "enable_bitmapscan": "off",
        "max_parallel_workers_per_gather": "0",
        "jit": "off",
        "synchronous_commit": "off",
        "client_min_messages": "warning",
        "client_encoding": "UTF8",
        "extra_float_digits": "1",
        "TimeZone": "UTC",
    }
    store._open().execute("SET recallbench.weight_bm25 = 7; SET enable_seqscan = on")
    assert store.settings()["recallbench.weight_bm25"] == "7"
    assert store.settings()["enable_seqscan"] == "on"


def test_the_settings_are_what_the_score_uses(filled) -> None:
    store = filled("cosine=1,bm25=0.5")
    before = store.search(QUERIES[0], 50)
    store._open().execute("SET recallbench.weight_bm25 = 7")
    assert store.search(QUERIES[0], 50) != before


def test_evidence_shows_the_plan_that_ran(filled) -> None:
    for weights in ("cosine", None):
        evidence = filled(weights).evidence()
        assert "Index Scan using segments_pkey" in evidence["plan"]
        assert "Index Cond: (scope = asked.scope)" in evidence["plan"]
        assert "btree" in evidence["index"]


def test_version_names_store_server_and_extension(filled) -> None:
    pattern = r"recallbench-pgvector/1 \(PostgreSQL \d+\.\d+, pgvector \d+\.\d+\.\d+\)"
    assert re.fullmatch(pattern, filled("cosine").version())


def test_a_fresh_session_ranks_alike_and_holds_its_schema(filled, dsn: str) -> None:
    store = filled()
    before = list(store.search_many(QUERIES, 50))
    settings, plan = store.settings(), store.evidence()["plan"]
    for _ in range(3):
        assert store.chill() == ""
        assert store.search(QUERIES[0], 50) == before[0]
    filled("cosine")  # another run sweeps, and must leave the first alone
    assert list(store.search_many(QUERIES, 50)) == before
    assert (store.settings(), store.evidence()["plan"]) == (settings, plan)
    schema = store._schema
    store.close()
    with psycopg.connect(dsn) as connection:
        assert connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone() is None


def test_closing_twice_leaves_nothing(filled, dsn: str) -> None:
    store = filled("cosine")
    store.close()
    store.close()
    with psycopg.connect(dsn) as connection:
        rows = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'recallbench_%'").fetchall()
        sessions = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'recallbench'"
        ).fetchone()
    assert rows == []
    assert sessions == (0,)
    with pytest.raises(Blocked, match="not open"):
        store.search(QUERIES[0], 5)


def test_it_stops_a_server_of_its_own() -> None:
    server = EmbeddedServer()
    store = PgvectorStore(server, DEFAULT_WEIGHTS)
    store.prepare(2)
    folder = server.folder
    assert folder is not None
    assert folder.exists()
    assert store.evidence()["connection"] == "private socket"
    store.close()
    assert not folder.exists()
    assert server.pid == 0


def test_over_tcp_with_a_password(tcp_dsn: str) -> None:
    store = PgvectorStore(tcp_dsn, DEFAULT_WEIGHTS)
    store.prepare(DIMS)
    store.ingest(ITEMS, VECTORS)
    store.ready()
    assert len(store.search(QUERIES[0], 50)) == 17
    shown = " ".join([*store.evidence().values(), *store.settings().values(), store.version()])
    store.close()
    assert "p@ss" not in shown
    assert "127.0.0.1" in shown


def test_wide_vectors_are_held(filled) -> None:
    random = np.random.default_rng(3)
    vectors = random.standard_normal((4, 3000)).astype(np.float32)
    items = [Item(n, 1, "x", None, 0.5) for n in range(4)]
    assert filled("cosine", items, vectors).search(Query(1, "", vectors[2]), 1)[0].id == 2


@pytest.mark.parametrize("dims", [0, 16_001])
def test_impossible_width(dsn: str, dims: int) -> None:
    with pytest.raises(UsageError, match="can't hold"):
        PgvectorStore(dsn).prepare(dims)


@pytest.mark.parametrize(
    ("row", "found"), [([0.0, 0.0], "only zeros"), ([np.nan, 1.0], "NaN"), ([1.0, 2.0, 3.0], "1 x 3")]
)
def test_vectors_that_cannot_be_compared(dsn: str, row: list[float], found: str) -> None:
    store = PgvectorStore(dsn)
    store.prepare(2)
    try:
        with pytest.raises(InputError) as caught:
            store.ingest([Item(1, 1, "x", None, 0.5)], np.array([row], np.float32))
        assert found in caught.value.found
    finally:
        store.close()


@pytest.mark.parametrize("importance", [-0.1, 1.1, float("nan")])
def test_importance_outside_its_range(dsn: str, importance: float) -> None:
    store = PgvectorStore(dsn)
    store.prepare(2)
    try:
        with pytest.raises(InputError, match="segment 1") as caught:
            store.ingest([Item(1, 1, "x", None, importance)], np.ones((1, 2), np.float32))
        assert str(importance) in caught.value.found
    finally:
        store.close()


def test_questions_that_cannot_be_searched(filled) -> None:
    store = filled()
    for vector in (None, np.zeros(DIMS, np.float32), np.ones(DIMS + 1, np.float32), np.full(DIMS, np.nan, np.float32)):
        with pytest.raises(InputError):
            store.search(replace(QUERIES[0], vector=vector), 5)
    with pytest.raises(InputError, match="too long"):
        store.search(replace(QUERIES[0], text="x " * 200_000), 5)


def test_a_search_left_half_way_does_not_hold_up_the_next(filled) -> None:
    store = filled("cosine")
    questions = QUERIES * 20
    whole = list(store.search_many(questions, 50))
    left = store.search_many(questions, 50)
    assert [next(left), next(left)] == whole[:2]
    # A block of questions is under way now, and others want the session.
    assert store.search(questions[5], 50) == whole[5]
    assert store.settings()["recallbench.weight_cosine"] == "1.0"
    assert list(left) == whole[2:]


def test_the_next_block_is_on_its_way_while_one_is_unpacked(filled) -> None:
    # A block of these is larger than a socket takes at once.
    random = np.random.default_rng(3)
    vectors = random.standard_normal((4, 1_900)).astype(np.float32)
    items = [Item(n, 1, "x", None, 0.5) for n in range(4)]
    store = filled("cosine", items, vectors)
    answers = store.search_many([Query(1, "", row) for row in np.tile(vectors, (128, 1))], 1)
    assert next(answers)[0].id == 0
    assert store._connection.pgconn.flush() == 0
    assert [hits[0].id for hits in answers] == ([0, 1, 2, 3] * 128)[1:]


def test_searching_before_ready(dsn: str) -> None:
    store = PgvectorStore(dsn)
    store.prepare(2)
    with pytest.raises(Blocked, match="all segments"):
        store.search(Query(1, "", np.ones(2, np.float32)), 5)
    store.close()
