from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import numpy as np
import psycopg
import pytest
from pgvector.psycopg import register_vector

from recallbench.errors import Blocked
from recallbench.stores.pgmnemo.lessons import CREATED, check_visible, copy_lessons, padded, read_table
from recallbench.stores.pgmnemo.projects import Projects, claim_projects
from recallbench.stores.store import Item
from stores.standin import EVERY_RIGHT, database, plain_role

SAID = datetime(2023, 5, 1, 9, 30, tzinfo=UTC)
ITEMS = [
    Item(40, 2, "Ana planted a pear tree.", SAID, 0.5),
    Item(41, 2, "naïve café ☕ \0 and a half \udcff", None, 0.0),
    Item(42, 2, "", SAID, 1.0),
]
VECTORS = padded(np.eye(3, 5, dtype=np.float32), 1024)


def ignore(done: int) -> None:
    """Take the progress that these tests do not look at."""


COLUMNS = ["role", "project_id", "topic", "lesson_text", "embedding", "source_run_id"]
COLUMNS += ["importance", "commit_sha", "metadata", "verified_at", "created_at"]


@contextmanager
def session(dsn: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        register_vector(connection)
        yield connection


def rows(connection: psycopg.Connection) -> list[tuple]:
    lessons = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM pgmnemo.agent_lesson ORDER BY topic").fetchall()
    return [(*row[:4], [float(x) for x in row[4].to_list()[:5]], *row[5:]) for row in lessons]


def expected(dates: str) -> list[tuple]:
    dated = SAID if dates == "dataset" else CREATED
    text = ("Ana planted a pear tree.", "naïve café ☕   and a half ?", "")
    return [
        (
            "bench",
            1_000_000_002,
            f"recallbench0segment{40 + i}",
            text[i],
            [float(i == j) for j in range(5)],
            "recallbench-0",
            (3, 1, 5)[i],
            "recallbench",
            {},
            datetime(2020, 1, 1, tzinfo=UTC),
            (dated, CREATED, dated)[i],
        )
        for i in range(3)
    ]


@pytest.mark.parametrize("dates", ["constant", "dataset"])
def test_rows_hold_the_items(standin: str, dates) -> None:
    with database(standin, "1.0") as dsn, session(dsn) as connection:
        table = read_table(connection)
        assert [name for name, _ in table.columns] == COLUMNS
        assert (table.dims, table.has_validity) == (1024, False)
        went: list[int] = []
        lessons = copy_lessons(connection, table, Projects(0), ITEMS, VECTORS, dates, went.append)
        assert went == [1, 1, 1]
        assert rows(connection) == expected(dates)
        topics = dict(connection.execute("SELECT id, topic FROM pgmnemo.agent_lesson").fetchall())
        assert {topics[lesson]: item for lesson, item in lessons.items()} == {
            "recallbench0segment40": 40,
            "recallbench0segment41": 41,
            "recallbench0segment42": 42,
        }
        check_visible(connection, table, Projects(0), 3)


def test_a_role_under_row_security_puts_in_the_same_rows(standin: str) -> None:
    # Postgres refuses COPY there.
    with database(standin, "1.0-tenants") as dsn, plain_role(dsn, *EVERY_RIGHT) as plain, session(plain) as connection:
        table = read_table(connection)
        assert len(copy_lessons(connection, table, Projects(0), ITEMS, VECTORS, "constant", ignore)) == 3
        assert rows(connection) == expected("constant")
        check_visible(connection, table, Projects(0), 3)


def test_rows_of_others_are_not_counted_as_ours(standin: str) -> None:
    with database(standin, "2.0") as dsn, session(dsn) as connection:
        table = read_table(connection)
        assert table.has_validity
        for projects, size in ((Projects(0), 2), (Projects(1), 3)):
            lessons = copy_lessons(connection, table, projects, ITEMS[:size], VECTORS[:size], "constant", ignore)
            assert sorted(lessons.values()) == [40, 41, 42][:size]
        check_visible(connection, table, Projects(0), 2)
        check_visible(connection, table, Projects(1), 3)


@pytest.mark.parametrize(
    ("hiding", "recallable"),
    [
        ("is_active = false WHERE topic LIKE '%40'", 2),
        ("verified_at = NULL WHERE topic LIKE '%41'", 2),
        ("embedding = NULL", 0),
        ("t_valid_to = now() WHERE topic LIKE '%42'", 2),
    ],
)
def test_a_hidden_row_blocks_the_run(standin: str, hiding: str, recallable: int) -> None:
    with database(standin, "2.0") as dsn, session(dsn) as connection:
        table, projects = read_table(connection), claim_projects(connection)
        copy_lessons(connection, table, projects, ITEMS, VECTORS, "constant", ignore)
        connection.execute(f"UPDATE pgmnemo.agent_lesson SET {hiding}".encode())
        with pytest.raises(Blocked, match="does not keep every segment recallable") as caught:
            check_visible(connection, table, projects, 3)
        assert caught.value.found == f"3 rows, {recallable} of them recallable"
        assert "3 rows that are active, verified, embedded and valid" in caught.value.expected


def test_a_closed_row_hides_nothing_where_the_version_knows_no_validity(standin: str) -> None:
    with database(standin, "1.0") as dsn, session(dsn) as connection:
        connection.execute("ALTER TABLE pgmnemo.agent_lesson ADD expires_at timestamptz DEFAULT '2001-01-01'")
        table = read_table(connection)
        copy_lessons(connection, table, Projects(0), ITEMS, VECTORS, "constant", ignore)
        check_visible(connection, table, Projects(0), 3)


@pytest.mark.parametrize(
    ("version", "complaint"), [("1.0-fuller", "blame must be filled"), ("1.0-poorer", "no column topic")]
)
def test_a_table_that_can_t_be_filled_is_refused(standin: str, version: str, complaint: str) -> None:
    with (
        database(standin, version) as dsn,
        session(dsn) as connection,
        pytest.raises(Blocked, match="is not as any known version") as caught,
    ):
        read_table(connection)
    assert caught.value.found == complaint


def test_padding_adds_zeros_and_changes_no_cosine() -> None:
    vectors = np.array([[3, 4], [1, 0]], np.float32)
    assert padded(vectors, 4).tolist() == [[3, 4, 0, 0], [1, 0, 0, 0]]
    assert padded(vectors, 2) is vectors
    assert padded(vectors, -1) is vectors  # the column takes any length
