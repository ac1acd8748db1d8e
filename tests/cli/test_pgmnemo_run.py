"""`recallbench run` with stand-ins of the extension pgmnemo."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from commandline import environment, recallbench
from recallbench.results.metrics import Metrics
from stages import sampled
from stores.standin import EVERY_RIGHT, database, plain_role, standin_server

CANARY = ("run", "canary-locomo", "--embedder", "hash", "--out", "out")
STORE = ("--store", "pgmnemo")
SECRET = "it's a p@ss/word"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with standin_server(password=SECRET) as running:
        yield running.dsn


@pytest.fixture(scope="module")
def plain_run(server: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a valid run whose server is named by a variable."""
    folder = tmp_path_factory.mktemp("pgmnemo")
    with database(server, "2.0") as dsn:
        done = recallbench(*CANARY, "--version", "v2.0", cwd=folder, env={"PGMNEMO_DSN": dsn})
        assert done.returncode == 0
        assert rows_left(dsn) == 0
    return only(folder)


def only(workspace: Path) -> Path:
    (folder,) = (workspace / "out").iterdir()
    return folder


def metrics(folder: Path) -> Metrics:
    return Metrics.model_validate_json((folder / "metrics.json").read_bytes())


def retrievals(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "raw_retrievals.jsonl").read_text().splitlines()]


def rows_left(dsn: str) -> int:
    with psycopg.connect(dsn) as connection:
        row = connection.execute("SELECT count(*) FROM pgmnemo.agent_lesson").fetchone()
    assert row is not None
    return row[0]


def run(dsn: str, folder: Path, *more: str) -> Metrics:
    done = recallbench(*CANARY, *STORE, "--dsn", dsn, *more, cwd=folder)
    assert done.returncode == 0
    return metrics(only(folder))


def blocked(workspace: Path, *more: str, env: dict[str, str] | None = None) -> str:
    """Assert that the run is blocked, and return its BLOCKED.md."""
    done = recallbench(*CANARY, *STORE, *more, cwd=workspace, env=env)
    assert done.returncode == 3
    folder = only(workspace)
    assert folder.name.endswith("_BLOCKED")
    assert [path.name for path in folder.iterdir()] == ["BLOCKED.md"]
    assert "what to do: " in done.stderr
    text = (folder / "BLOCKED.md").read_text()
    assert SECRET not in text + done.stderr
    return text


def test_a_server_with_the_extension_is_measured_by_default(plain_run: Path) -> None:
    result = metrics(plain_run)
    assert result.store.name == "pgmnemo"
    assert (result.store.version, result.store.asked_version, result.pgmnemo_version) == ("2.0", "v2.0", "2.0")
    assert plain_run.name.startswith("v2.0_")
    assert "pgmnemo" not in plain_run.name


def test_all_gates_pass_but_the_pending_commit(plain_run: Path) -> None:
    result = metrics(plain_run)
    assert result.verdict.text == "UNVERIFIED (pending: committed)"
    assert result.verdict.pending == ["committed"]
    assert not result.verdict.canonical
    assert {gate.name: gate.status for gate in result.gates}["version pin"] == "pass"
    assert {gate.status for gate in result.gates} == {"pass", "pending"}
    # The store is the canonical one, so the corpus is the only deviation.
    assert [(deviation.kind, deviation.detail.split()[0]) for deviation in result.deviations] == [
        ("corpus", "canary-locomo")
    ]


def test_settings_are_those_that_were_in_force(plain_run: Path) -> None:
    state = metrics(plain_run).guc_state
    assert state["pgmnemo.gate_strict"] == "warn"
    assert state["pgmnemo.recency_weight"] == "0.10"
    assert state["pgmnemo.tenant_id"].startswith("10000000")
    assert state["pgmnemo.ef_search"] == "500"
    assert state["pgmnemo.track_recall_recency"] == "off"
    assert state["hnsw.ef_search"] == "1000"
    assert state["statement_timeout"] == "0"


def test_the_result_names_the_function_and_the_server(plain_run: Path) -> None:
    evidence = metrics(plain_run).store.evidence
    assert evidence["function"].startswith("pgmnemo.recall_lessons(query_embedding vector, k integer DEFAULT 10")
    assert evidence["created_at"] == "one constant for all rows"
    assert evidence["other rows in the table"] == "0"
    assert evidence["told by the extension"] == "nothing"
    assert evidence["query text"] == "given"
    assert "password" not in evidence["connection"]
    for path in plain_run.iterdir():
        assert "p@ss" not in path.read_text()
        assert "p%40ss" not in path.read_text()


def test_the_calls_of_both_depths_agree(plain_run: Path) -> None:
    result = metrics(plain_run)
    assert result.retrieval.calls == [10, 50]
    assert result.retrieval.agreement is not None
    assert result.retrieval.agreement.model_dump() == {"depth": 10, "identical": 1.0, "overlap": 1.0}
    assert (result.retrieval.short_questions, result.retrieval.missing_hits) == (0, 0)
    for row in retrievals(plain_run):
        assert len(row["hits"]) == row["candidates"]
        assert row["hits_of_k_call"] == row["hits"][:10]


def test_a_repeat_gives_the_same_bytes(server: str, plain_run: Path, tmp_path: Path) -> None:
    with database(server, "2.0") as dsn:
        run(dsn, tmp_path, "--version", "v2.0")
    again = only(tmp_path)
    for name in ("raw_retrievals.jsonl", "run.trec"):
        assert (again / name).read_bytes() == (plain_run / name).read_bytes()
    first, second = (json.loads((folder / "metrics.json").read_text()) for folder in (plain_run, again))
    for document in (first, second):
        del document["store"]["evidence"]["connection"]  # another database
    assert first == second


def test_another_version_than_requested_is_unverified_and_both_are_named(server: str, tmp_path: Path) -> None:
    with database(server, "1.0") as dsn:
        done = recallbench(*CANARY, *STORE, "--dsn", dsn, "--version", "v2.0", "--require-verified", cwd=tmp_path)
    assert done.returncode == 1
    finding = "pgmnemo states 1.0, pgmnemo_version is 1.0, --version v2.0"
    assert f"gate of the protocol failed: version pin: {finding}" in done.stdout
    assert finding in (only(tmp_path) / "report.md").read_text()
    result = metrics(only(tmp_path))
    assert result.verdict.text == "UNVERIFIED"
    # The name holds the measured version as well as the requested one.
    assert re.fullmatch(r"1\.0_\d{8}_asked-for-2\.0", only(tmp_path).name)
    (gate,) = [gate for gate in result.gates if gate.name == "version pin"]
    assert (gate.status, gate.observed) == ("fail", finding)


@pytest.mark.marked
@pytest.mark.parametrize(
    ("more", "detail"),
    [
        (("--pgmnemo-function", "recall_hybrid"), "function recall_hybrid instead of the defaults"),
        (("--pgmnemo-function", "recall_fast"), "function recall_fast instead of the defaults"),
        (("--pgmnemo-dates", "dataset"), "created_at from the dataset instead of the defaults"),
    ],
)
def test_another_function_or_other_dates_are_labelled(
    server: str, tmp_path: Path, more: tuple[str, str], detail: str
) -> None:
    with database(server, "2.0") as dsn:
        result = run(dsn, tmp_path, *more)
    assert ("settings", detail) in [(deviation.kind, deviation.detail) for deviation in result.deviations]
    assert detail in (only(tmp_path) / "report.md").read_text()
    assert result.store.variant in detail
    assert not result.verdict.canonical
    if "function" in detail:
        assert f"pgmnemo.{more[1]}(" in result.store.evidence["function"]
    else:
        assert result.store.evidence["created_at"] == "the corpus' dates"


def test_naming_the_defaults_is_no_deviation(server: str, tmp_path: Path) -> None:
    with database(server, "2.0") as dsn:
        result = run(dsn, tmp_path, "--pgmnemo-function", "recall_lessons", "--pgmnemo-dates", "constant")
    assert [deviation.kind for deviation in result.deviations] == ["corpus"]


def test_calls_that_disagree_are_reported(server: str, tmp_path: Path) -> None:
    # The call with 50 begins with the first ten of the haystack, the call with 10 gives its last ten.
    with database(server, "1.0-fickle") as dsn:
        result = run(dsn, tmp_path)
    assert result.retrieval.agreement is not None
    sizes = [row["candidates"] for row in retrievals(only(tmp_path))]
    shared = [max(0, 20 - size) / 10 for size in sizes]
    assert result.retrieval.agreement.identical == 0
    assert result.retrieval.agreement.overlap == pytest.approx(sum(shared) / len(shared))
    assert "Top 10 of the two calls: identical for 0" in (only(tmp_path) / "report.md").read_text()


def test_missing_hits_are_counted_by_question_and_in_total(server: str, tmp_path: Path) -> None:
    with database(server, "1.0-short") as dsn:
        result = run(dsn, tmp_path)
    rows = retrievals(only(tmp_path))
    assert {len(row["hits"]) for row in rows} == {len(row["hits_of_k_call"]) for row in rows} == {7}
    missing = sum((row["candidates"] - 7) + 3 for row in rows)
    assert result.retrieval.short_questions == result.retrieval.asked == len(rows)
    assert result.retrieval.missing_hits == missing
    sentence = f"**{len(rows)} questions got too few hits; {missing} are missing in total.**"
    assert sentence in (only(tmp_path) / "report.md").read_text()


def test_notices_of_the_extension_are_in_the_result(server: str, tmp_path: Path) -> None:
    with database(server, "1.0-noisy") as dsn:
        result = run(dsn, tmp_path)
    count, _, text = result.store.evidence["told by the extension"].partition(" x ")
    assert int(count) >= 2 * result.retrieval.asked
    assert text == "NOTICE: pgmnemo: looked at # rows"


@pytest.mark.marked
def test_row_security_that_lets_the_tenant_through_changes_nothing(server: str, tmp_path: Path) -> None:
    with database(server, "1.0-tenants") as dsn:
        places = [tmp_path / "owner", tmp_path / "plain"]
        for folder in places:
            folder.mkdir()
        owner = run(dsn, places[0])
        with plain_role(dsn, *EVERY_RIGHT) as plain:
            assert run(plain, places[1]).estimates == owner.estimates


@pytest.mark.parametrize(
    ("version", "more", "problem", "remedy"),
    sampled(
        [
            (None, (), "the database has no extension pgmnemo", "CREATE EXTENSION pgmnemo VERSION"),
            (
                "1.0",
                ("--pgmnemo-function", "recall_hybrid"),
                "has no function pgmnemo.recall_hybrid",
                "choose --pgmnemo-function recall_lessons",
            ),
            ("1.0-uuid", (), "project_id_filter is uuid", "another --pgmnemo-function"),
            ("1.0-demanding", (), "it demands tenant, which no run can give", "a version whose signature fits"),
            ("1.0-scoreless", (), "it returns no score", "a version whose signature fits"),
            ("1.0-fuller", (), "blame must be filled", "a version of pgmnemo whose table fits"),
            ("2.0-forgetful", (), "0 of them recallable", "look for triggers on pgmnemo.agent_lesson"),
            ("1.0-degrading", (), "left out a part of its ranking", "a timeout"),
        ]
    ),
)
def test_an_extension_that_cannot_be_measured_blocks(
    server: str, tmp_path: Path, version: str | None, more: tuple[str, ...], problem: str, remedy: str
) -> None:
    with database(server, version) as dsn:
        page = blocked(tmp_path, "--dsn", dsn, *more)
        assert version is None or rows_left(dsn) == 0
    assert problem in page
    assert remedy in page


def test_no_server_blocks(tmp_path: Path) -> None:
    page = blocked(tmp_path)
    assert "no --dsn or PGMNEMO_DSN names a server" in page
    assert "CREATE EXTENSION pgmnemo" in page


def test_a_server_that_does_not_answer_blocks(tmp_path: Path) -> None:
    page = blocked(tmp_path, env={"PGMNEMO_DSN": f"host={tmp_path} password={'x'} dbname=none"})
    assert "does not answer" in page


def test_a_pgvector_that_is_too_old_blocks(server: str, tmp_path: Path) -> None:
    with database(server, "1.0") as dsn:
        with psycopg.connect(dsn) as connection:
            connection.execute("UPDATE pg_extension SET extversion = '0.4.4' WHERE extname = 'vector'")
        page = blocked(tmp_path, "--dsn", dsn)
    assert "pgvector is too old" in page
    assert "with pgvector 0.4.4" in page
    assert "ALTER EXTENSION vector UPDATE" in page


@pytest.mark.marked
def test_a_role_with_a_statement_timeout_is_measured(server: str, tmp_path: Path) -> None:
    with database(server, "1.0-slow") as dsn:
        hurried = make_conninfo(dsn, options="-cstatement_timeout=100")
        result = run(hurried, tmp_path, "--limit", "2")
    assert result.guc_state["statement_timeout"] == "0"
    assert (result.retrieval.asked, result.retrieval.missing_hits) == (2, 0)


def test_a_wrong_password_blocks(server: str, tmp_path: Path) -> None:
    page = blocked(tmp_path, "--dsn", make_conninfo(server, password="wr0ng"))
    assert "refuses the connection" in page
    assert "wr0ng" not in page


@pytest.mark.parametrize(
    ("rights", "problem", "remedy"),
    [
        ((), "may not use the schema pgmnemo", "GRANT USAGE ON SCHEMA pgmnemo TO"),
        (EVERY_RIGHT[:1], "SELECT, INSERT, UPDATE, DELETE", "GRANT"),
        ((EVERY_RIGHT[0], EVERY_RIGHT[1]), "USAGE on its sequence", "GRANT"),
    ],
)
def test_missing_rights_block(server: str, tmp_path: Path, rights: tuple[str, ...], problem: str, remedy: str) -> None:
    with database(server, "1.0") as dsn, plain_role(dsn, *rights) as plain:
        page = blocked(tmp_path, "--dsn", plain)
    assert problem in page
    assert remedy in page


def test_rows_hidden_by_row_security_block(server: str, tmp_path: Path) -> None:
    with database(server, "1.0-hiding") as dsn, plain_role(dsn, *EVERY_RIGHT) as plain:
        page = blocked(tmp_path, "--dsn", plain)
    assert "row-level security hides lessons from this role" in page
    assert "BYPASSRLS" in page


def test_a_score_that_is_no_number_is_an_error(server: str, tmp_path: Path) -> None:
    with database(server, "1.0-nan") as dsn:
        done = recallbench(*CANARY, *STORE, "--dsn", dsn, cwd=tmp_path)
        assert done.returncode == 2
        assert "nan" in done.stderr
        assert rows_left(dsn) == 0


@pytest.mark.marked
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_removes_its_rows(server: str, tmp_path: Path, number: signal.Signals) -> None:
    with database(server, "1.0-slow") as dsn:
        command = [sys.executable, "-m", "recallbench", *CANARY, *STORE, "--dsn", dsn]
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE, text=True, stdout=subprocess.PIPE
        )
        deadline = time.monotonic() + 300
        while rows_left(dsn) < 103 and time.monotonic() < deadline:
            assert process.poll() is None, "it ended before it could be interrupted"
            time.sleep(0.05)
        process.send_signal(number)
        _, printed = process.communicate(timeout=300)
        assert process.returncode == 130, printed
        assert "interrupted" in printed
        assert "Traceback" not in printed
        assert rows_left(dsn) == 0
    assert not (tmp_path / "out").exists()


def test_the_options_go_with_no_other_store(tmp_path: Path) -> None:
    for option, value in (("--pgmnemo-function", "recall_fast"), ("--pgmnemo-dates", "dataset")):
        done = recallbench(*CANARY, "--store", "exact", option, value, cwd=tmp_path)
        assert done.returncode == 2
        assert f"the store `exact` has no use for {option}" in done.stderr
        assert "pgmnemo" in done.stderr


def test_a_server_without_the_extension_is_measured_as_the_reference(server: str, tmp_path: Path) -> None:
    with database(server, None) as dsn:
        done = recallbench(*CANARY, "--limit", "5", cwd=tmp_path, env={"PGMNEMO_DSN": dsn})
    assert done.returncode == 0
    assert "store: pgvector, since --store names none\n" in done.stderr
    assert metrics(only(tmp_path)).store.name == "pgvector"
    assert conninfo_to_dict(dsn)["password"] == SECRET


def test_the_dry_run_names_the_installed_versions(server: str, tmp_path: Path) -> None:
    with database(server, "2.0") as dsn:
        done = recallbench(
            "run", "canary-locomo", *STORE, "--embedder", "hash", "--dry-run", "--dsn", dsn, cwd=tmp_path
        )
        assert done.returncode == 0
        assert rows_left(dsn) == 0
    assert "pgvector" in done.stdout
    assert "pgmnemo 2.0 (" in done.stdout
    assert "p@ss" not in done.stdout
