"""One store over several servers: where scopes lie, what it answers, and which server an error names."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator

import numpy as np
import psycopg
import pytest

from recallbench.errors import Blocked
from recallbench.stores.pgvector.pgvector import PgvectorStore
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.postgres.postgres import redacted
from recallbench.stores.registry import open_store
from recallbench.stores.spread import SpreadStore
from recallbench.stores.spread_statement import spread_states
from recallbench.stores.statement import Statement, StoreRecord, contradictions
from recallbench.stores.store import Item, Query, Store
from recorded_progress import RecordedProgress
from stores.credentials import PASSWORD

DIMS, SCOPES, SIZE = 8, 5, 6
_RANDOM = np.random.default_rng(3)
VECTORS = _RANDOM.standard_normal((SCOPES, SIZE, DIMS)).astype(np.float32)
QUERIES = [Query(n % SCOPES + 1, "", v) for n, v in enumerate(_RANDOM.standard_normal((600, DIMS), np.float32))]
COSINE = {"weights": "cosine"}
SLEEPING = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT pg_sleep%'"


@pytest.fixture
def filled(dsn: str, tcp_dsn: str) -> Iterator[Callable[..., Store]]:
    opened: list[Store] = []

    def fill(*servers: str, **options: str) -> Store:
        store = open_store("pgvector", environ={}, dsn=servers or (dsn, tcp_dsn), options=COSINE | options)
        opened.append(store)
        store.prepare(DIMS)
        for scope, rows in enumerate(VECTORS, 1):
            items = [Item(scope * SIZE + place, scope, f"text {place}", None, 0.5) for place in range(SIZE)]
            store.ingest(items, rows)
        store.ready()
        return store

    yield fill
    for store in opened:
        store.close()


def test_each_scope_lies_on_exactly_one_server_and_is_answered_as_on_one(filled, dsn: str, tcp_dsn: str) -> None:
    one, two = filled(dsn), filled()
    assert isinstance(one, PgvectorStore)
    assert isinstance(two, SpreadStore)
    held = []
    for place in two._stores:
        rows = place._sessions.searching.execute("SELECT DISTINCT scope FROM segments ORDER BY scope").fetchall()
        held.append([scope for (scope,) in rows])
    assert held == [[1, 3, 5], [2, 4]]
    assert list(two.search_many(QUERIES, 4)) == list(one.search_many(QUERIES, 4))
    assert two.search(QUERIES[1], 3) == one.search(QUERIES[1], 3)
    caller = two.another_caller()
    assert caller is not None
    assert caller.search(QUERIES[2], 3) == one.search(QUERIES[2], 3)
    caller.close()
    assert (two.version(), two.settings(), two.prefix_stable) == (one.version(), one.settings(), True)
    assert two.stored_bytes()["tables"] > one.stored_bytes()["tables"]
    assert (two.round_trip(), two.round_trip(), two.chill(), two.one_caller) == (True, True, "", "")
    assert list(two.search_many(QUERIES[:7], 2)) == list(one.search_many(QUERIES[:7], 2))


def test_what_it_states_is_held_to_what_one_server_states(filled, dsn: str, tcp_dsn: str) -> None:
    store = filled(index="hnsw")
    options = COSINE | {"index": "hnsw", "dsn": "given"}
    stated = spread_states(PgvectorStore.states("pgvector", options), 2)
    known = {"dsn": ("--dsn", redacted(dsn)), "dsn_2": ("--dsn", redacted(tcp_dsn))}
    record = StoreRecord(store.version(), store.settings(), store.evidence())
    assert record.evidence["scopes"] == "dealt out in turn: 3 on server 1, 2 on server 2"
    assert contradictions(stated, record, known) == []
    for name, value in (
        ("connection on server 2", "host=x"),
        ("plan on server 2", "Seq"),
        ("answered on server 3", ""),
    ):
        assert contradictions(stated, record._replace(evidence={**record.evidence, name: value}), known)


def test_a_statement_over_servers_keeps_to_that_of_one() -> None:
    (stated,) = spread_states((Statement("v", {}, {"connection": "(?P<dsn>.+)", "plan": "Scan .+"}),), 3)
    assert stated.evidence == {
        "connection": "(?P<dsn>.+)",
        "plan": "Scan .+",
        "connection on server 2": "(?P<dsn_2>.+)",
        "connection on server 3": "(?P<dsn_3>.+)",
        "scopes": "dealt out in turn: [0-9]+ on server 1, [0-9]+ on server 2, [0-9]+ on server 3",
    }
    assert stated.further_evidence == {r"plan\ on\ server\ 2": "Scan .+", r"plan\ on\ server\ 3": "Scan .+"}


def test_where_one_server_fails_the_others_do_not_go_on_building(
    dsn: str, tcp_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store("pgvector", environ={}, dsn=(dsn, tcp_dsn), options=COSINE)
    store.prepare(DIMS)
    assert isinstance(store, SpreadStore)
    busy, failing = store._stores
    ended: list[str] = []

    def build() -> None:
        try:
            busy._sessions.searching.execute("SELECT pg_sleep(600)")
        except psycopg.Error as error:
            ended.append(type(error).__name__)
            raise

    def fail() -> None:
        with psycopg.connect(dsn) as connection:
            while not connection.execute(SLEEPING).fetchone():
                time.sleep(0.01)
        raise Blocked("no room")

    monkeypatch.setattr(busy, "ready", build)
    monkeypatch.setattr(failing, "ready", fail)
    with pytest.raises(Blocked, match=r"no room \(server 2 of 2: "):
        store.ready()
    assert ended == ["QueryCanceled"]
    store.close()


def test_a_server_that_dies_is_named_and_the_others_are_left_clean(dsn: str) -> None:
    with EmbeddedServer(password=PASSWORD) as mortal:
        progress = RecordedProgress()
        store = open_store("pgvector", environ={}, dsn=(dsn, mortal.dsn), options=COSINE, progress=progress)
        store.prepare(DIMS)
        for scope, rows in enumerate(VECTORS, 1):
            store.ingest([Item(scope * SIZE + place, scope, "", None, 0.5) for place in range(SIZE)], rows)
        store.ready()
        os.kill(mortal.pid, signal.SIGQUIT)  # at once, with all its sessions
        mortal._parts["process"].wait()
        with pytest.raises(Blocked) as lost:
            list(store.search_many(QUERIES, 3))
        assert lost.value.problem == f"the server was lost while searching (server 2 of 2: {redacted(mortal.dsn)})"
        assert PASSWORD not in str(lost.value)
        assert len(store.search(QUERIES[0], 3)) == 3  # the first server has its scopes still
        schema, left = (each.schema for each in store._stores)
        store.close()
        assert [note.partition(",")[0] for note in progress.notes] == [f"{left} stays on the server"]
    with psycopg.connect(dsn) as connection:
        assert connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone() is None
