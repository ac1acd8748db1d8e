from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from commandline import environment, recallbench
from recallbench.corpora.realmem import write_miniature as write_realmem
from versioned import BROKEN, GRUDGING, databases, versioned_server

PASSWORD = "it's a p@ss/word"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with versioned_server(PASSWORD) as running:
        yield running.dsn


def test_versions_side_by_side(server: str, tmp_path: Path) -> None:
    words = ("versions", "1.0", BROKEN, "2.0", "--store", "pgmnemo", "--corpus", "canary-locomo", "--embedder", "hash")
    done = recallbench(*words, "--dsn", server, "--out", "results", "--label", "t", cwd=tmp_path)
    assert done.returncode == 3  # one of the three could not be measured
    names = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert [re.sub(r"\d{8}", "DAY", name) for name in names] == ["1.0_DAY_t", "2.0_DAY_t", "versions_DAY_t"]
    folder = tmp_path / "results" / names[-1]
    summary = json.loads((folder / "versions.json").read_text())
    assert summary["schema_version"] == "1"
    assert [version["status"] for version in summary["versions"]] == ["measured", "not installed", "measured"]
    table = done.stdout.splitlines()
    for name, result in (("1.0", names[0]), ("2.0", names[1])):
        metrics = json.loads((tmp_path / "results" / result / "metrics.json").read_text())
        value = metrics["headline"][0]["estimate"]["value"]
        assert any(line.startswith(f"{name} ") and f" {value:.4f} " in line for line in table)
        assert f"| [{name}](../{result}/report.md) | {value:.4f} |" in (folder / "versions.md").read_text()
    assert any(line.startswith(f"{BROKEN} ") and "not installed: pgmnemo" in line for line in table)
    assert any(line.startswith("1.0 – 2.0  mrr@50") for line in table)
    assert f"; {BROKEN} was not measured (not installed); next: recallbench compare " in (table[-1])
    # Of a corpus that is not the protocol's it says nothing of the protocol's system; the files do.
    assert "canonical" not in done.stdout
    assert "instead of dragon-plus" not in done.stdout
    assert "- canonical: none of them" in (folder / "versions.md").read_text()
    assert databases(server) == set()
    # Results hold neither the password nor a folder of this machine.
    for path in (tmp_path / "results").rglob("*.*"):
        if path.is_file():
            text = path.read_text()
            assert not re.search(r"p@ss|p%40ss|/tmp/|" + re.escape(str(tmp_path)), text), path


def test_all_versions_measured_is_exit_0_and_settings_may_come_from_files(server: str, tmp_path: Path) -> None:
    (tmp_path / "set.toml").write_text('corpus = "canary-locomo"\nembedder = "hash"\nlimit = 5\nquiet = true\n')
    env = {"PGMNEMO_DSN": server, "RECALLBENCH_RESULTS": "kept"}
    done = recallbench("versions", "2.0", "--config", "set.toml", "--format", "markdown", cwd=tmp_path, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert "5 questions of canary-locomo" in done.stdout
    assert "Fewer than two versions were measured" in done.stdout
    assert done.stdout.splitlines()[-1] == (
        "**Only 2.0 was measured, so nothing is compared; next: name another version that the server offers**"
    )
    assert len(list((tmp_path / "kept/canary-locomo/results").iterdir())) == 2


@pytest.mark.marked
def test_wrong_usage_is_refused(tmp_path: Path) -> None:
    def outcome(*words: str) -> tuple[int, str]:
        done = recallbench("versions", *words, cwd=tmp_path)
        return done.returncode, done.stderr

    assert outcome("1.0")[0] == 2
    assert "--corpus NAME" in outcome("1.0")[1]
    code, message = outcome("1.0", "2.0", "1.0", "--corpus", "canary-locomo", "--dsn", "host=nowhere")
    assert (code, "1.0 is named twice" in message) == (2, True)
    code, message = outcome("1.0", "--corpus", "canary-locomo", "--store", "exact")
    assert (code, "versions of the store exact can't be installed" in message) == (2, True)
    code, message = outcome("1.0", "--corpus", "canary")
    assert (code, "canary is several corpora" in message) == (2, True)
    code, message = outcome("1.0", "--corpus", "canary-locomo", "--allow-deviation", "store")
    assert (code, "--allow-deviation store is not needed" in message) == (2, True)
    code, message = outcome("1.0", "--corpus", "canary-locomo")
    assert (code, "no server with versions of pgmnemo is named" in message) == (3, True)
    assert outcome("--corpus", "canary-locomo")[0] == 2
    assert not (tmp_path / "benchmarks").exists()


def test_a_version_that_cannot_be_measured_is_exit_3(server: str, tmp_path: Path) -> None:
    done = recallbench("versions", "7.7", "--corpus", "canary-locomo", "--dsn", server, cwd=tmp_path)
    assert done.returncode == 3
    assert "7.7 not installed: the server does not offer pgmnemo 7.7" in done.stderr
    missing = recallbench("versions", "1.0", "--corpus", "locomo", "--dsn", server, "--no-download", cwd=tmp_path)
    assert missing.returncode == 3
    assert "installed" not in missing.stderr


@pytest.mark.marked
@pytest.mark.parametrize("order", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_leaves_no_database(server: str, tmp_path: Path, order: signal.Signals) -> None:
    words = ["versions", "1.0", GRUDGING, "--corpus", "canary-locomo", "--embedder", "hash", "--dsn", server]
    process = subprocess.Popen(
        [sys.executable, "-m", "recallbench", *words, "--limit", "5"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    results = tmp_path / "benchmarks/canary-locomo/results"
    # The first version is measured, the second is being installed.
    installing = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND wait_event = 'PgSleep'"
    with psycopg.connect(server, autocommit=True) as session:
        while session.execute(installing).fetchone() == (0,):
            assert process.poll() is None
    process.send_signal(order)
    _, printed = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in printed
    assert databases(server) == set()
    assert len(list(results.iterdir())) == 1


def test_versions_are_replayed_where_time_is_kept_and_see_the_future_where_it_is_ignored(
    server: str, tmp_path: Path
) -> None:
    write_realmem(tmp_path / "people")
    corpus = ("--corpus", "realmem", "--corpus-file", "people", "--allow-deviation", "dataset", "--embedder", "hash")
    for time, way, candidates in (("kept", "replayed", 1), ("ignored", "ignored", 8)):
        words = ("versions", "1.0", "2.0", *corpus, "--dsn", server, "--time", time, "--out", time, "-q")
        done = recallbench(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        *measured, study = sorted((tmp_path / time).iterdir())
        assert [json.loads((folder / "metrics.json").read_text())["time"]["way"] for folder in measured] == [way, way]
        first = json.loads((measured[0] / "raw_retrievals.jsonl").read_text().splitlines()[0])
        assert first["candidates"] == candidates
        said = "time: questions also see what was said after them"
        assert (said in (study / "versions.md").read_text()) == (time == "ignored")
