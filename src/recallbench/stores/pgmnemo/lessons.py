"""Rows of pgmnemo.agent_lesson: the columns of a version, their values, and whether all rows can be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recallbench.errors import Blocked
from recallbench.progress import Advance, counted
from recallbench.stores.pgmnemo.projects import Projects
from recallbench.stores.postgres.postgres import database_errors
from recallbench.stores.store import Item, Matrix

if TYPE_CHECKING:
    from psycopg import Connection

Dates = Literal["constant", "dataset"]
DATES: tuple[Dates, ...] = ("constant", "dataset")
TABLE = "pgmnemo.agent_lesson"
ROLE = "bench"
CREATED = datetime(2020, 1, 1, tzinfo=UTC)
"""The time of every lesson of a canonical run: so long ago that recency is at its floor, today as in a year."""
COMMIT = "recallbench"
"""Provenance, without which the gate would hide a row."""
NEEDED = ("role", "project_id", "topic", "lesson_text", "embedding", "source_run_id")
UNSECURED = "use the table's owner or a role with BYPASSRLS, or a policy that lets this role write and see its projects"
FILLED = (*NEEDED, "importance", "commit_sha", "metadata", "verified_at", "created_at")


@dataclass(frozen=True, slots=True)
class LessonTable:
    """The table as this version has it."""

    columns: tuple[tuple[str, str], ...]
    """The columns that a run fills, with their types."""
    dims: int
    """The length of an embedding."""
    has_validity: bool
    """Whether rows can be closed: only those that end at infinity are recalled."""


def read_table(connection: Connection) -> LessonTable:
    """The table as the catalogue has it; raises Blocked where a row can't be made."""
    with database_errors("reading the extension's table"):
        rows = connection.execute(
            """SELECT a.attname, a.atttypid::regtype::text, a.atttypmod, a.attgenerated <> '',
                      a.attnotnull AND NOT a.atthasdef AND a.attidentity = ''
               FROM pg_attribute a WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped""",
            (TABLE,),
        ).fetchall()
    types = {name: kind for name, kind, _, generated, _ in rows if not generated}
    lacking = [name for name in NEEDED if name not in types]
    demanded = [name for name, _, _, _, needed in rows if needed and name not in FILLED]
    if lacking or demanded:
        raise Blocked(
            f"{TABLE} is not as any known version of pgmnemo makes it",
            expected=f"columns {', '.join(NEEDED)}, and defaults for all but {', '.join(FILLED)}",
            found=f"no column {', '.join(lacking)}" if lacking else f"{', '.join(demanded)} must be filled",
            remedy="measure a version of pgmnemo whose table fits",
        )
    dims = next((typmod for name, _, typmod, _, _ in rows if name == "embedding"), -1)
    columns = tuple((name, types[name].rpartition(".")[2]) for name in FILLED if name in types)
    return LessonTable(columns, dims, "t_valid_to" in types)


def padded(vectors: Matrix, dims: int) -> Matrix:
    """Vectors as the table's column wants them; zeros at the end change no cosine."""
    rows, has = vectors.shape
    if dims in (-1, has):
        return vectors
    whole = np.zeros((rows, dims), np.float32)
    whole[:, :has] = vectors
    return whole


def copy_lessons(
    connection: Connection,
    table: LessonTable,
    projects: Projects,
    items: Sequence[Item],
    vectors: Matrix,
    dates: Dates,
    advance: Advance,
) -> dict[int, int]:
    """Put segments into the table; returns the item id of each lesson id."""
    from psycopg import errors

    names = [name for name, _ in table.columns]
    rows = [
        [values[name] for name in names]
        for values in (_values(item, vector, projects, dates) for item, vector in zip(items, vectors, strict=True))
    ]
    with database_errors("taking in segments"):
        if _secured(connection):
            # Postgres refuses COPY where policies must look at each row.
            marks = ", ".join(["%s"] * len(names))
            statement = f"INSERT INTO {TABLE} ({', '.join(names)}) VALUES ({marks})"
            try:
                connection.cursor().executemany(statement.encode(), counted(rows, advance))
            except errors.InsufficientPrivilege as error:
                raise Blocked(
                    "row-level security refuses lessons of this role",
                    expected=f"a policy that lets it put rows into {TABLE}",
                    found=str(error).split("\n")[0],
                    remedy=UNSECURED,
                ) from error
        else:
            with connection.cursor().copy(f"COPY {TABLE} ({', '.join(names)}) FROM STDIN BINARY".encode()) as copy:
                copy.set_types([kind for _, kind in table.columns])
                for row in counted(rows, advance):
                    copy.write_row(row)
    topics = {topic(projects, item): item.id for item in items}
    numbers = sorted({projects.number(item.scope) for item in items})
    with database_errors("reading segments back"):
        inserted = connection.execute(
            f"SELECT id, topic FROM {TABLE} WHERE project_id = ANY(%s) AND source_run_id = %s".encode(),
            (numbers, projects.mark),
        ).fetchall()
    return {lesson: topics[name] for lesson, name in inserted if name in topics}


def topic(projects: Projects, item: Item) -> str:
    """Return the topic of a row: a word of its own, since some versions take equal topics for one lesson.

    No question has that word.
    """
    return f"recallbench{projects.slot}segment{item.id}"


def storable(text: str) -> str:
    """Return the text with a blank or a question mark for what Postgres can't hold."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def _secured(connection: Connection) -> bool:
    row = connection.execute(f"SELECT row_security_active('{TABLE}')".encode()).fetchone()
    return bool(row and row[0])


def _values(item: Item, vector: Any, projects: Projects, dates: Dates) -> dict[str, Any]:
    from psycopg.types.json import Jsonb

    return {
        "role": ROLE,
        "project_id": projects.number(item.scope),
        "topic": topic(projects, item),
        "lesson_text": storable(item.text),
        "embedding": vector,
        "source_run_id": projects.mark,
        # From 1 to 5; a corpus that says nothing gives 0.5, which is the extension's own default of 3.
        "importance": round(1 + 4 * item.importance),
        "commit_sha": COMMIT,
        "metadata": Jsonb({}),
        "verified_at": CREATED,
        "created_at": item.occurred_at if dates == "dataset" and item.occurred_at else CREATED,
    }


def check_visible(connection: Connection, table: LessonTable, projects: Projects, expected: int) -> None:
    """Raise Blocked unless every row that was given can be recalled."""
    conditions = "is_active AND verified_at IS NOT NULL AND embedding IS NOT NULL"
    if table.has_validity:
        conditions += " AND t_valid_to = 'infinity'"
    with database_errors("counting what can be recalled"):
        row = connection.execute(
            f"""SELECT count(*), count(*) FILTER (WHERE {conditions}), row_security_active('{TABLE}')
                FROM {TABLE} WHERE project_id >= %s AND project_id < %s""".encode(),
            projects.span,
        ).fetchone()
    assert row is not None
    there, visible, secured = row
    if visible == expected:
        return
    if there < expected and secured:
        raise Blocked(
            "row-level security hides lessons from this role",
            expected=f"{expected} rows",
            found=f"{there} visible",
            remedy=UNSECURED,
        )
    raise Blocked(
        "the extension does not keep every segment recallable",
        expected=f"{expected} rows that are active, verified, embedded and valid",
        found=f"{there} rows, {visible} of them recallable",
        remedy="look for triggers on pgmnemo.agent_lesson that drop, close or hide rows",
    )


def vector_indexes(connection: Connection) -> list[str]:
    """Return the definitions of the vector indexes of the extension's tables."""
    with database_errors("describing the index"):
        rows = connection.execute(
            "SELECT indexdef FROM pg_indexes WHERE schemaname = %s AND indexdef LIKE '%% USING hnsw %%' ORDER BY 1",
            (TABLE.partition(".")[0],),
        ).fetchall()
    return [text for (text,) in rows]


def count_others(connection: Connection, projects: Projects) -> int:
    """Return how many rows of the table are not of this run."""
    with database_errors("counting the rows of others"):
        row = connection.execute(
            f"SELECT count(*) FROM {TABLE} WHERE source_run_id IS DISTINCT FROM %s".encode(), (projects.mark,)
        ).fetchone()
    assert row is not None
    return int(row[0])
