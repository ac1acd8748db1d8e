from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import psycopg
import pytest

from recallbench.stores.postgres import wire
from recallbench.stores.store import Item


def test_a_time_without_a_zone_is_utc() -> None:
    plain = datetime(2000, 1, 2, 3, 4, 5, 6)
    assert wire.microseconds(plain) == 97_445_000_006
    assert wire.microseconds(plain.replace(tzinfo=UTC)) == 97_445_000_006
    assert wire.microseconds(plain.replace(tzinfo=timezone(timedelta(hours=2)))) == 97_445_000_006 - 7_200_000_000


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("int4[]", wire.int4_array([1, -2]), [1, -2]),
        ("text[]", wire.text_array(["a\0b", "ö", "\ud800"]), ["a b", "ö", "?"]),
        (
            "timestamptz[]",
            wire.timestamp_array([datetime(2024, 5, 6, 7), None]),
            [datetime(2024, 5, 6, 7, tzinfo=UTC), None],
        ),
    ],
)
def test_the_server_reads_what_is_packed(dsn: str, kind: str, value: bytes, expected: list[object]) -> None:
    oids = {"int4[]": wire.INT4_ARRAY, "text[]": wire.TEXT_ARRAY, "timestamptz[]": wire.TIMESTAMPTZ_ARRAY}
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.pgconn.exec_params(b"CREATE TEMP TABLE t AS SELECT $1 AS v", [value], [oids[kind]], [1])
        row = connection.execute("SELECT v FROM t").fetchone()
    assert row == (expected,)


def test_a_scope_of_any_size_is_packed_in_little_memory() -> None:
    matrix = np.ones((4_000, 1_024), np.float32)
    items = [Item(number, 1, "text", None, 0.5) for number in range(len(matrix))]
    tracemalloc.start()
    try:
        size = sum(map(len, wire.copy_blocks(items, matrix)))
        assert size > matrix.nbytes
        assert tracemalloc.get_traced_memory()[1] < matrix.nbytes / 2
    finally:
        tracemalloc.stop()
