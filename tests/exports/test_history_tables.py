"""The history tables: their form, how they come about, and that nothing is there twice."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from exports import measured
from exports.grafana_query import sent
from recallbench.errors import InputError
from recallbench.exports.forms import FIGURES, HISTORY, OF_RESULTS, RESULTS
from recallbench.exports.gauges import LINE, gauges
from recallbench.exports.grafana.queries import query
from recallbench.exports.history.filling import fill
from recallbench.exports.history.migrations import LOCK, Migration, migrate, read_migrations
from recallbench.exports.recorded import Recorded, read_folders
from recallbench.exports.study_forms import OF_STUDIES, POINTS, STUDIES, SWEEPS
from recallbench.progress import Silent

TYPES = {
    "text": "text",
    "whole": "bigint",
    "number": "double precision",
    "flag": "boolean",
    "moment": "timestamp with time zone",
    "texts": "text[]",
    "wholes": "bigint[]",
}


@pytest.fixture
def recorded(place: Path) -> Recorded:
    return read_folders([place / name for name in measured.folders(place)], None, Silent())


def columns_of(connection: psycopg.Connection, table: str) -> list[tuple[str, str]]:
    return connection.execute(
        """SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
           WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum""",
        (f"recallbench_history.{table}",),
    ).fetchall()


def test_the_tables_have_the_forms_that_rows_have(dsn: str) -> None:
    with psycopg.connect(dsn) as connection:
        applied = migrate(connection, read_migrations())
        assert [migration.number for migration in applied] == list(range(1, len(applied) + 1))
        for form in (*OF_RESULTS, *OF_STUDIES, HISTORY):
            stated = [(column.name, TYPES[column.kind]) for column in form.columns]
            assert columns_of(connection, form.name) == stated, form.name
        rows = connection.execute(
            """SELECT c.relname, array_agg(a.attname ORDER BY array_position(i.indkey::int2[], a.attnum))
               FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
               JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
               WHERE i.indisprimary AND c.relnamespace = 'recallbench_history'::regnamespace GROUP BY 1, i.indexrelid"""
        ).fetchall()
        keys = {name: tuple(key) for name, key in rows}
        assert {form.name: form.key for form in (*OF_RESULTS, *OF_STUDIES)} == {
            name: key for name, key in keys.items() if name != "migrations"
        }


def test_what_is_there_comes_back_as_it_was(dsn: str, recorded: Recorded) -> None:
    with psycopg.connect(dsn) as connection:
        migrate(connection, read_migrations())
        fill(connection, recorded)
        for form in (*OF_RESULTS, *OF_STUDIES):
            stored = connection.execute(
                f"SELECT {', '.join(form.names)} FROM recallbench_history.{form.name}".encode()
            ).fetchall()
            given = [tuple(_listed(value) for value in form.values(row)) for row in recorded.rows(form.name)]
            assert sorted(stored, key=repr) == sorted(given, key=repr), form.name
        flat = connection.execute("SELECT count(*), count(DISTINCT result) FROM recallbench_history.history").fetchone()
        assert flat == (len(recorded.rows(FIGURES.name)), len(recorded.rows(RESULTS.name)))


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def test_an_older_database_is_brought_up_to_date_and_keeps_its_rows(dsn: str, recorded: Recorded) -> None:
    first, *rest = read_migrations()
    assert rest
    results = Recorded(tables={form.name: recorded.rows(form.name) for form in OF_RESULTS})
    with psycopg.connect(dsn) as connection:
        assert migrate(connection, [first]) == [first]
        connection.commit()
        with pytest.raises(psycopg.errors.UndefinedTable), connection.transaction():
            connection.execute(f"SELECT FROM recallbench_history.{STUDIES.name}".encode())
        counts = _fill_results(connection, results)
        connection.commit()
        assert migrate(connection, read_migrations()) == rest
        assert migrate(connection, read_migrations()) == []
        assert connection.execute("SELECT count(*) FROM recallbench_history.results").fetchone() == (counts,)
        again = fill(connection, recorded)
        assert again["results"] == (0, counts)
        assert again["latency_studies"] == (1, 1)


def _fill_results(connection: psycopg.Connection, recorded: Recorded) -> int:
    new, total = fill(connection, recorded)["results"]
    assert new == total == len(recorded.rows(RESULTS.name))
    return total


def test_tables_of_a_newer_release_are_refused_and_left_alone(dsn: str) -> None:
    newer = Migration(9000, "holograms", "CREATE TABLE recallbench_history.holograms (id text)")
    with psycopg.connect(dsn) as connection:
        migrate(connection, [*read_migrations(), newer])
        connection.commit()
        with pytest.raises(InputError, match="are of a newer release") as raised:
            migrate(connection, read_migrations())
        assert "9000_holograms" in raised.value.found


def test_tables_that_came_about_otherwise_are_refused(dsn: str) -> None:
    first, *rest = read_migrations()
    with psycopg.connect(dsn) as connection:
        migrate(connection, [Migration(first.number, first.name, f"{first.sql}\n-- by hand")])
        connection.commit()
        with pytest.raises(InputError, match="came about otherwise") as raised:
            migrate(connection, [first, *rest])
        assert raised.value.found == f"another {first.number:04d}_{first.name}"


def test_a_migration_that_fails_leaves_nothing(dsn: str) -> None:
    broken = Migration(9001, "broken", "CREATE TABLE recallbench_history.half (id text); SELECT 1 / 0")
    with psycopg.connect(dsn, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.DivisionByZero), connection.transaction():
            migrate(connection, [*read_migrations(), broken])
        assert connection.execute("SELECT to_regnamespace('recallbench_history') IS NULL").fetchone() == (True,)


def test_two_exports_at_once_take_turns(dsn: str) -> None:
    with psycopg.connect(dsn) as first, psycopg.connect(dsn) as second:
        migrate(first, read_migrations())
        second.execute("SET lock_timeout = '200ms'")
        second.commit()
        with pytest.raises(psycopg.errors.LockNotAvailable):
            migrate(second, read_migrations())
        held = first.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted").fetchone()
        assert held == (1,)
        assert LOCK == ("recallbench", "history")
        second.rollback()
        first.commit()
        assert migrate(second, read_migrations()) == []


def test_a_character_that_the_server_lacks_is_spelled_out(dsn: str, recorded: Recorded) -> None:
    (row, *_), tables = recorded.rows(RESULTS.name), {}
    tables[RESULTS.name] = [{**row, "version": "a\0b", "deviations": ["c\0d"]}]
    with psycopg.connect(dsn) as connection:
        migrate(connection, read_migrations())
        fill(connection, Recorded(tables=tables))
        stored = connection.execute("SELECT version, deviations FROM recallbench_history.results").fetchone()
        assert stored == ("a\\x00b", ["c\\x00d"])


@pytest.mark.parametrize("ids", ["ab", "ba"])
def test_of_two_of_one_moment_the_same_is_the_newest_everywhere(dsn: str, recorded: Recorded, ids: str) -> None:
    result = next(row for row in recorded.rows(RESULTS.name) if row["folder"] == "bm25")
    (sweep,) = recorded.rows(SWEEPS.name)
    point = {**recorded.rows(POINTS.name)[0]}
    both = Recorded(
        tables={
            RESULTS.name: [{**result, "result": id, "version": id} for id in ids],
            FIGURES.name: [
                {"result": id, "slice_kind": "overall", "slice": "overall", "measure": "mrr@50", "value": value}
                for id, value in (("a", 0.25), ("b", 0.5))
            ],
            SWEEPS.name: [{**sweep, "sweep": id} for id in ids],
            POINTS.name: [{**point, "sweep": id, "point": f"of {id}"} for id in ids],
        },
        lines={id: dict.fromkeys(LINE, "") for id in ids},
    )
    found = {gauge.name: gauge.samples for gauge in gauges(both)}
    assert [labels["version"] for labels, _ in found["recallbench_result_info"]] == ["b"]
    assert [labels["point"] for labels, _ in found["recallbench_sweep_measure"]] == ["of b"]
    corpus = {"corpus": [str(result["corpus"])], "store": ["bm25"], "measure": ["mrr@50"], "at_least": ["0.4"]}
    with psycopg.connect(dsn) as connection:
        migrate(connection, read_migrations())
        fill(connection, both)
        assert connection.execute("SELECT result FROM recallbench_history.latest").fetchall() == [("b",)]
        points = connection.execute(sent(query("last_sweep_points"), corpus).encode()).fetchall()
        assert [row[1] for row in points] == ["of b"]
        with connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
            (gate,) = cursor.execute(sent(query("gate_by_measure"), corpus).encode()).fetchall()
            assert (gate["value"], gate["result before"]) == (0.5, 0.25)


def test_lines_that_share_their_words_are_told_apart(dsn: str, recorded: Recorded) -> None:
    row = next(row for row in recorded.rows(RESULTS.name) if row["folder"] == "bm25")
    told = (("1", "aaaaaaa", "one"), ("2", "bbbbbbb", "one"), ("3", "bbbbbbb", "one"), ("4", "ccccccc", "two"))
    rows = [{**row, "result": id, "series": series, "line": words} for id, series, words in told]
    with psycopg.connect(dsn) as connection:
        migrate(connection, read_migrations())
        fill(connection, Recorded(tables={RESULTS.name: rows}))
        shown = connection.execute("SELECT series, shown FROM recallbench_history.lines ORDER BY 1").fetchall()
    assert shown == [("aaaaaaa", "one #aaaaaa"), ("bbbbbbb", "one #bbbbbb"), ("ccccccc", "two")]


def test_money_that_lacks_a_price_is_never_the_cost(dsn: str, recorded: Recorded) -> None:
    row = next(row for row in recorded.rows(RESULTS.name) if row["folder"] == "bm25")
    lacking: dict[str, list[str]] = {"all": [], "some": ["reranking"]}
    rows = [
        {**row, "result": id, "series": id, "line": id, "cost_per_1000": 0.5, "cost_lacks": lacks}
        for id, lacks in lacking.items()
    ]
    both = Recorded(
        tables={RESULTS.name: rows}, lines={id: {**dict.fromkeys(LINE, ""), "series": id} for id in lacking}
    )
    told = {gauge.name: [labels["series"] for labels, _ in gauge.samples] for gauge in gauges(both)}
    assert told["recallbench_cost_per_1000_queries"] == ["all"]
    assert told["recallbench_cost_per_1000_queries_at_least"] == ["some"]
    with psycopg.connect(dsn) as connection:
        migrate(connection, read_migrations())
        fill(connection, both)
        chosen = {"corpus": [str(row["corpus"])], "store": ["bm25"]}
        drawn = connection.execute(sent(query("cost_over_time"), chosen).encode()).fetchall()
    assert [(line, cost) for _, line, cost in drawn] == [("all, USD", 0.5), ("some, USD, at least", 0.5)]
