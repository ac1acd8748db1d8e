"""Rows of several scopes travel together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import psycopg
import pytest

from recallbench.stores.postgres import copy_batch, wire
from recallbench.stores.postgres.copy_batch import CopyBatch
from recallbench.stores.store import Item

COPY = "COPY kept (id, scope, occurred_at, importance, text, embedding) FROM STDIN BINARY"


@pytest.fixture
def connection(dsn: str) -> Iterator[psycopg.Connection]:
    """A session with an empty table."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(
            "CREATE TEMP TABLE kept (id bigint, scope integer, occurred_at timestamptz, importance double precision"
            " CHECK (importance < 1), text text, embedding vector(2))"
        )
        yield connection


def rows(number: int, importance: float = 0.5) -> Iterator[bytes]:
    item = Item(number, 7, f"text {number}", None, importance)
    return wire.copy_blocks([item], np.ones((1, 2), np.float32))


def there(connection: psycopg.Connection) -> list[int]:
    return [number for (number,) in connection.execute("SELECT id FROM kept ORDER BY id").fetchall()]


@pytest.mark.parametrize("enough", [1, 10**6])
def test_what_waits_is_sent_once_it_is_enough_and_when_asked(
    connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch, enough: int
) -> None:
    monkeypatch.setattr(copy_batch, "ENOUGH", enough)
    batch = CopyBatch(COPY)
    seen = []
    for number in range(3):
        batch.add(connection, rows(number))
        if number != 1:
            batch.settle()
            seen.append(there(connection))
    batch.finish(connection)
    batch.finish(connection)
    assert seen == ([[0], [0, 1, 2]] if enough == 1 else [[], []])
    assert connection.execute("SELECT id, scope, text, embedding::text FROM kept ORDER BY id").fetchall() == [
        (number, 7, f"text {number}", "[1,1]") for number in range(3)
    ]


def test_a_batch_that_is_refused_is_told_at_the_next_and_leaves_the_session_free(
    connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy_batch, "ENOUGH", 1)
    batch = CopyBatch(COPY)
    batch.add(connection, rows(1, importance=2))
    with pytest.raises(psycopg.errors.CheckViolation):
        batch.add(connection, rows(2))
    assert there(connection) == []
    batch.add(connection, rows(1, importance=2))
    batch.abandon()
    assert there(connection) == []
    with pytest.raises(psycopg.errors.UndefinedTable):
        CopyBatch(COPY.replace("kept", "lost")).add(connection, rows(3))
    assert there(connection) == []


def test_a_batch_that_is_cut_short_brings_no_row(
    connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = CopyBatch(COPY)
    batch.add(connection, rows(1))
    monkeypatch.setattr(copy_batch, "TRAILER", None)  # stands for Ctrl-C
    with pytest.raises(TypeError):
        batch.finish(connection)
    batch.abandon()
    assert there(connection) == []


def test_rows_reach_a_socket_that_holds_less_than_a_batch(connection: psycopg.Connection) -> None:
    batch = CopyBatch(COPY)
    item = Item(1, 7, "x" * 9_000_000, None, 0.5)
    batch.add(connection, wire.copy_blocks([item], np.ones((1, 2), np.float32)))
    batch.finish(connection)
    assert connection.execute("SELECT length(text) FROM kept").fetchall() == [(9_000_000,)]
