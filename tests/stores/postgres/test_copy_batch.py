"""Rows of several scopes travel together."""

from __future__ import annotations

import numpy as np
import psycopg
import pytest

from recallbench.stores.postgres import copy_batch, wire
from recallbench.stores.postgres.copy_batch import CopyBatch
from recallbench.stores.store import Item

COPY = "COPY kept (id, scope, occurred_at, importance, text, embedding) FROM STDIN BINARY"


@pytest.mark.parametrize("enough", [1, 10**6])
def test_what_waits_is_sent_once_it_is_enough_and_when_asked(
    dsn: str, monkeypatch: pytest.MonkeyPatch, enough: int
) -> None:
    monkeypatch.setattr(copy_batch, "ENOUGH", enough)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(
            "CREATE TEMP TABLE kept (id bigint, scope integer, occurred_at timestamptz, importance double precision,"
            " text text, embedding vector(2))"
        )
        there, batch = [], CopyBatch(COPY)
        for number in range(3):
            item = Item(number, 7, f"text {number}", None, 0.5)
            batch.add(connection, wire.copy_blocks([item], np.ones((1, 2), np.float32)))
            there.append(connection.execute("SELECT count(*) FROM kept").fetchone())
        batch.send(connection)
        batch.send(connection)
        rows = connection.execute("SELECT id, scope, text, embedding::text FROM kept ORDER BY id").fetchall()
    assert there == ([(1,), (2,), (3,)] if enough == 1 else [(0,)] * 3)
    assert rows == [(number, 7, f"text {number}", "[1,1]") for number in range(3)]
