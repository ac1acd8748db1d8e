"""`recallbench export`: what its user types, reads and is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from commandline import recallbench
from recallbench.stores.postgres.embedded import EmbeddedServer
from stores.credentials import PASSWORD


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with EmbeddedServer(password=PASSWORD) as running:
        yield running.dsn


@pytest.fixture
def dsn(server: str, request: pytest.FixtureRequest) -> str:
    name = f"of_{abs(hash(request.node.name))}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return make_conninfo(server, dbname=name)


def count(dsn: str, table: str) -> int:
    with psycopg.connect(dsn) as connection:
        row = connection.execute(f"SELECT count(*) FROM recallbench_history.{table}".encode()).fetchone()
    assert row
    return row[0]


def test_the_help_lists_the_targets_and_each_its_own_options(tmp_path: Path) -> None:
    listed = recallbench("export", "--help", cwd=tmp_path).stdout
    for target in ("prometheus", "postgres", "grafana", "parquet", "hub"):
        assert f"\n  {target} " in listed
    shown = recallbench("export", "postgres", "--help", cwd=tmp_path).stdout
    assert "--dsn" in shown
    assert "--textfile" not in shown
    assert "Example: recallbench export postgres results/* --dsn" in " ".join(shown.split())
    near = recallbench("export", "postgress", cwd=tmp_path)
    assert near.returncode == 2
    assert "Did you mean 'postgres'?" in " ".join(near.stderr.split())


def test_the_same_folders_twice_add_nothing(results_to_compare: Path, dsn: str) -> None:
    words = ("export", "postgres", "bm25", "exact", "--dsn", dsn, "-q")
    first = recallbench(*words, cwd=results_to_compare)
    assert first.returncode == 0
    lines = first.stdout.splitlines()
    assert lines[0] == "tables of recallbench_history were brought up to date: 0001_results, 0002_studies"
    assert lines[1].startswith("database: ")
    told = "each folder is as its manifest says; next: recallbench export"
    assert lines[2:] == [
        "",
        f"2 of 2 results are new in the schema recallbench_history; {told} grafana > dashboard.json",
    ]
    figures = count(dsn, "figures")
    again = recallbench(*words, cwd=results_to_compare)
    assert again.returncode == 0
    assert again.stdout.splitlines()[-1] == (
        "Nothing is new in the schema recallbench_history: these very runs were there already; "
        f"{told} grafana > dashboard.json"
    )
    # The same answers of another run are another row: its times are its own.
    third = recallbench("export", "postgres", "again", "bm25", "--dsn", dsn, "-q", cwd=results_to_compare)
    assert "1 of 2 results are new" in third.stdout
    assert count(dsn, "results") == 3
    assert count(dsn, "figures") == figures + figures // 2
    with psycopg.connect(dsn) as connection:
        rows = connection.execute("SELECT count(DISTINCT content_sha256), count(*) FROM recallbench_history.results")
        assert rows.fetchone() == (2, 3)


def test_the_password_is_never_printed(results_to_compare: Path, dsn: str) -> None:
    done = recallbench("export", "postgres", "bm25", "--dsn", dsn, cwd=results_to_compare)
    assert done.returncode == 0
    assert "host=127.0.0.1" in done.stdout
    wrong = recallbench(
        "export", "postgres", "bm25", "--dsn", make_conninfo(dsn, password="Wr0ng/word"), cwd=results_to_compare
    )
    assert wrong.returncode == 3
    assert "refuses the connection" in wrong.stderr
    assert "embedded" not in wrong.stderr
    for printed in (done.stdout, done.stderr, wrong.stdout, wrong.stderr):
        assert "p@ss" not in printed
        assert "Wr0ng" not in printed


def test_the_database_may_be_named_by_a_variable_or_the_settings(
    results_to_compare: Path, dsn: str, tmp_path: Path
) -> None:
    done = recallbench("export", "postgres", "bm25", "-q", cwd=results_to_compare, env={"RECALLBENCH_DSN": dsn})
    assert done.returncode == 0
    # A file for several commands: what others take is passed over.
    quoted = dsn.replace("\\", "\\\\").replace('"', '\\"')
    (tmp_path / "night.toml").write_text(f'dsn = "{quoted}"\nstore = "bm25"\ntextfile = "x.prom"\n')
    words = ("export", "postgres", "exact", "-q", "--config", tmp_path / "night.toml")
    assert recallbench(*words, cwd=results_to_compare).returncode == 0
    assert count(dsn, "results") == 2
    (tmp_path / "mistyped.toml").write_text('dns = "x"\n')
    refused = recallbench("export", "postgres", "bm25", "--config", tmp_path / "mistyped.toml", cwd=results_to_compare)
    assert (refused.returncode, "unknown setting 'dns'" in refused.stderr) == (2, True)
    run = recallbench("run", "canary-locomo", "--dry-run", "--config", tmp_path / "mistyped.toml", cwd=tmp_path)
    assert run.returncode == 2


def test_without_a_database_nothing_is_guessed(results_to_compare: Path, dsn: str) -> None:
    env = {"PGMNEMO_DSN": dsn}
    done = recallbench("export", "postgres", "bm25", "-q", cwd=results_to_compare, env=env)
    assert done.returncode == 2
    assert "needs the database of the history" in done.stderr
    with psycopg.connect(dsn) as connection:
        assert connection.execute("SELECT to_regnamespace('recallbench_history')").fetchone() == (None,)


def test_a_role_without_the_right_is_told_what_it_needs(results_to_compare: Path, dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE ROLE looker LOGIN PASSWORD 'looker-1'")
    own = make_conninfo(dsn, user="looker", password="looker-1")
    done = recallbench("export", "postgres", "bm25", "-q", "--dsn", own, cwd=results_to_compare)
    assert done.returncode == 3
    assert "the history can't be written with this role" in done.stderr
    assert "GRANT CREATE ON DATABASE" in done.stderr
    # Where others made the tables, the right to write to them is enough.
    assert recallbench("export", "postgres", "bm25", "-q", "--dsn", dsn, cwd=results_to_compare).returncode == 0
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("GRANT USAGE ON SCHEMA recallbench_history TO looker")
        connection.execute("GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA recallbench_history TO looker")
    done = recallbench("export", "postgres", "exact", "-q", "--dsn", own, cwd=results_to_compare)
    assert (done.returncode, "1 of 1 results are new" in done.stdout) == (0, True)


def test_a_newer_database_is_refused(results_to_compare: Path, dsn: str) -> None:
    words = ("export", "postgres", "bm25", "-q", "--dsn", dsn)
    assert recallbench(*words, cwd=results_to_compare).returncode == 0
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO recallbench_history.migrations (number, name, sha256, recallbench) VALUES (99, 'x', 'y', 'z')"
        )
    done = recallbench("export", "postgres", "exact", "-q", "--dsn", dsn, cwd=results_to_compare)
    assert done.returncode == 2
    assert "are of a newer release" in done.stderr
    assert count(dsn, "results") == 1


@pytest.mark.parametrize("target", ["prometheus", "postgres", "parquet", "hub"])
def test_what_is_no_result_is_named_and_the_others_go_on(
    results_to_compare: Path, tmp_path: Path, dsn: str, target: str
) -> None:
    place = tmp_path / "results"
    place.mkdir()
    shutil.copytree(results_to_compare / "few", place / "few")
    shutil.copytree(results_to_compare / "few", place / "broken")
    (place / "broken" / "metrics.json").write_text("{")
    (place / "0.1_20260101_BLOCKED").mkdir()
    (place / "0.1_20260101_BLOCKED" / "BLOCKED.md").write_text("# BLOCKED\n")
    (place / "repeat_x\x1b[31m").mkdir()
    where = {
        "prometheus": ("--textfile", "x.prom"),
        "postgres": ("--dsn", dsn),
        "parquet": ("--folder", "parquet"),
        "hub": ("--folder", "dataset"),
    }[target]
    names = sorted(path.name for path in place.iterdir())
    done = recallbench("export", target, *names, *where, "-q", cwd=place)
    assert done.returncode == 0
    left_out = [line for line in done.stderr.splitlines() if "was left out: " in line]
    assert len(left_out) == 3
    assert any(line.startswith("recallbench: 0.1_20260101_BLOCKED was left out: BLOCKED.md: ") for line in left_out)
    assert any("repeat_x\\x1b[31m was left out: metrics.json is missing" in line for line in left_out)
    assert "1 result" in done.stdout or "1 of 1 results" in done.stdout
    assert "; 3 folders were left out, with the reasons above; next: " in done.stdout.splitlines()[-1]
    nothing = recallbench("export", target, *(name for name in names if name != "few"), *where, "-q", cwd=place)
    assert nothing.returncode == 2
    assert "there is nothing to export" in nothing.stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("prometheus", "few"), "export prometheus needs a place"),
        (("prometheus", "few", "--textfile", "x.txt"), "--textfile x.txt would be read by nobody"),
        (("parquet", "few"), "export parquet needs a folder"),
        (("hub", "few"), "export hub needs a folder"),
        (("parquet", "--folder", "x"), "DIR is missing"),
        (("prometheus", "few", "--textfile", "x.prom", "--prices", "no.toml"), "no.toml can't be read"),
    ],
)
def test_what_makes_no_sense_is_refused(results_to_compare: Path, words: tuple[str, ...], problem: str) -> None:
    done = recallbench("export", *words, cwd=results_to_compare)
    assert done.returncode == 2
    assert problem in done.stderr


def test_prices_of_ones_own_make_the_money(results_to_compare: Path, tmp_path: Path) -> None:
    (tmp_path / "ours.toml").write_text('date = 2026-01-02\ncurrency = "EUR"\nprocessor_hour = 3600.0\n')
    file = tmp_path / "x.prom"
    words = ("export", "prometheus", "bm25", "--textfile", file, "--prices", tmp_path / "ours.toml", "-q")
    assert recallbench(*words, cwd=results_to_compare).returncode == 0
    (line,) = (line for line in file.read_text().splitlines() if line.startswith("recallbench_cost_per_1000_queries{"))
    assert 'currency="EUR"' in line
    assert 'prices_of="2026-01-02"' in line
    assert float(line.rpartition(" ")[2]) > 0


def test_the_dashboard_goes_to_a_pipe_alone(tmp_path: Path) -> None:
    done = recallbench("export", "grafana", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("{\n")
    assert done.stdout.endswith("}\n")
    assert done.stderr == (
        "A dashboard of 11 panels; it reads the tables that `recallbench export postgres` fills; next: in Grafana, "
        "Dashboards > New > Import, with the PostgreSQL data source of that database\n"
    )


def test_the_same_run_in_another_folder_is_told(results_to_compare: Path, tmp_path: Path) -> None:
    shutil.copytree(results_to_compare / "few", tmp_path / "copy")
    words = ("export", "parquet", results_to_compare / "few", "copy", "--folder", "parquet", "-q")
    done = recallbench(*words, cwd=tmp_path)
    assert done.returncode == 0
    assert "folders whose run another one brought: 1" in done.stderr
    rows, blank, last = done.stdout.splitlines()
    assert (rows.startswith("rows: history "), blank) == (True, "")
    assert last == (
        "parquet holds 1 result in 12 files, none with text of a corpus; each folder is as its manifest says; next: "
        "pandas.read_parquet('parquet/history.parquet'), or a query of duckdb"
    )


def test_an_export_ends_with_its_last_line_in_every_format(results_to_compare: Path, tmp_path: Path) -> None:
    words = ("export", "prometheus", results_to_compare / "bm25", "--textfile", "x.prom", "-q", "--format")
    stated = json.loads(recallbench(*words, "json", cwd=tmp_path).stdout)
    last = stated["conclusion"]["text"]
    assert last.startswith("x.prom holds ")
    assert last.endswith("; next: query recallbench_measure, once node_exporter has read the file")
    assert recallbench(*words, "markdown", cwd=tmp_path).stdout.splitlines()[-1] == f"**{last}**"
    assert f"<p><strong>{last}</strong></p>" in recallbench(*words, "html", cwd=tmp_path).stdout
    sheet = recallbench(*words, "csv", cwd=tmp_path)
    assert sheet.stdout == f"what happened\n{stated['conclusion']['happened']}\n"
    assert sheet.stderr == f"\n{last}\n"
