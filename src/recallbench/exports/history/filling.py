"""Rows into the history tables, each run and each study once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from recallbench.exports.forms import COSTS, FIGURES, GATES, LATENCIES, RESULTS
from recallbench.exports.history.migrations import SCHEMA
from recallbench.exports.recorded import Recorded
from recallbench.exports.study_forms import LEVELS, POINTS, QUALITY, STUDIES, SWEEPS
from recallbench.exports.table_form import Row, TableForm, Value

if TYPE_CHECKING:
    from psycopg import Connection

PARTS: tuple[tuple[TableForm, tuple[TableForm, ...]], ...] = (
    (RESULTS, (FIGURES, LATENCIES, COSTS, GATES)),
    (STUDIES, (LEVELS, QUALITY)),
    (SWEEPS, (POINTS,)),
)
"""Each table with those whose rows are of one of its own."""


def fill(connection: Connection, recorded: Recorded) -> dict[str, tuple[int, int]]:
    """Add what is not there yet; return by table how many of results, studies and sweeps are new, of how many.

    To be called in the transaction that holds the lock of the tables.
    """
    counts = {}
    for whole, parts in PARTS:
        rows = recorded.rows(whole.name)
        (key,) = whole.key
        new = {row[key] for row in rows if _insert(connection, whole, row)}
        counts[whole.name] = (len(new), len(rows))
        for part in parts:
            _copy(connection, part, [row for row in recorded.rows(part.name) if row[key] in new])
    return counts


def _insert(connection: Connection, form: TableForm, row: Row) -> bool:
    """Add a row, and return whether it was not there."""
    places = ", ".join(["%s"] * len(form.columns))
    statement = (
        f"INSERT INTO {SCHEMA}.{form.name} ({', '.join(form.names)}) VALUES ({places}) "
        f"ON CONFLICT ({', '.join(form.key)}) DO NOTHING"
    )
    return connection.execute(statement.encode(), [_stored(value) for value in form.values(row)]).rowcount == 1


def _copy(connection: Connection, form: TableForm, rows: Sequence[Row]) -> None:
    if rows:
        statement = f"COPY {SCHEMA}.{form.name} ({', '.join(form.names)}) FROM STDIN"
        with connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
            for row in rows:
                copy.write_row([_stored(value) for value in form.values(row)])


def _stored(value: Value) -> str | int | float | bool | datetime | list[object] | None:
    """Return a value as the server takes it: it has no character 0."""
    if isinstance(value, str):
        return value.replace("\0", "\\x00")
    if isinstance(value, (list, tuple)):
        return [item.replace("\0", "\\x00") if isinstance(item, str) else item for item in value]
    assert value is None or isinstance(value, (int, float, bool, datetime))
    return value
