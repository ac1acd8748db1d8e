"""`recallbench matrix`: a run for each encoder and corpus, what is there read again, and failures that stop nothing."""

from __future__ import annotations

import csv
import io
import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from commandline import environment, recallbench
from labelled_sets import beir

ENCODERS = '''
import pathlib, time

def exact(texts):
    """Has a place of its own for each of the texts, which end in a number below 200."""
    last = [text.split()[-1] for text in texts]
    return [[float(word == str(place)) or 1e-9 for place in range(200)] for word in last]

def same(texts):
    return [[1.0, 0.0] for _ in texts]

def waits(texts):
    pathlib.Path("waiting").touch()
    while not pathlib.Path("go").exists():
        time.sleep(0.02)
    return [[0.0, 1.0, 0.0] for _ in texts]

def stops(texts):
    raise KeyboardInterrupt

def fails(texts):
    raise RuntimeError("no weights today")
'''
MATRIX = ("matrix", "--corpora", "team", "--out", "out", "-q", "--encoders")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Encoders of one's own, and a set of 200 independent queries, each with the one document of its words."""
    (tmp_path / "enc.py").write_text(ENCODERS)
    numbered = [{"text": f"text {number}"} for number in range(200)]
    documents = [{"_id": f"d{number}", **text} for number, text in enumerate(numbered)]
    queries = [{"_id": f"q{number}", **text} for number, text in enumerate(numbered)]
    judged = "".join(f"q{number}\td{number}\t1\n" for number in range(200))
    beir(tmp_path / "team", documents, queries, test=f"query-id\tcorpus-id\tscore\n{judged}")
    return tmp_path


def folders(workspace: Path) -> list[Path]:
    """The folders of matrices, the oldest first."""
    return sorted((workspace / "out").glob("matrix_*"), key=lambda path: path.stat().st_mtime_ns)


def document(folder: Path) -> dict[str, Any]:
    stated: dict[str, Any] = json.loads((folder / "matrix.json").read_text())
    return stated


def test_cells_are_results_with_cost_letters_and_paired_tests_beside_them(workspace: Path) -> None:
    done = recallbench(*MATRIX, "python:enc:exact,python:enc:same", cwd=workspace)
    assert done.returncode == 0
    (folder,) = folders(workspace)
    matrix = document(folder)
    first, second = matrix["cells"]
    for cell, value in ((first, 1.0), (second, 0.05)):  # in the order of the haystack 10 of 200 are among the first 10
        result = (folder / cell["folder"]).resolve()
        metrics = json.loads((result / "metrics.json").read_text())
        assert cell["estimates"] == [
            estimate
            for estimate in metrics["estimates"]["overall"]
            if estimate["measure"] in ("recall_any@10", "recall_frac@10", "recall_all@10", "mrr@50")
        ]
        assert cell["estimates"][0]["value"] == value
        assert cell["content_sha256"] == json.loads((result / "manifest.json").read_text())["content_sha256"]
        effort = cell["effort"]
        assert (effort["probed"], effort["segments"], effort["tokens"]) == (64, 200, None)
        assert effort["passes"] * effort["seconds"] >= 0.199999
    assert first["letters"] == {"recall_any@10": "a", "mrr@50": "a"}
    # BM25 finds each text among ten, but words of one digit it does not know.
    assert second["letters"] == {"recall_any@10": "b", "mrr@50": "c"}
    audit = recallbench("audit", folder / first["folder"], "--corpus-file", "team", cwd=workspace).stdout
    assert ": holds, not committed\n" in audit
    assert [(e["name"], e["dims"], e["vector_bytes"]) for e in matrix["encoders"]] == [
        ("python:enc:exact", 200, 800),
        ("python:enc:same", 2, 8),
    ]
    (corpus,) = matrix["corpora"]
    assert (corpus["n"], corpus["clusters"], corpus["bm25_letters"]["recall_any@10"]) == (200, None, "a")
    pair = next(
        pair for pair in matrix["pairs"] if (pair["family"], pair["second_system"]) == ("all", "python:enc:same")
    )
    assert (pair["difference"], pair["wins"], pair["ties"], pair["losses"]) == (-0.95, 0, 10, 190)
    assert pair["p_holm"] < 0.001
    assert matrix["together"] == []
    sheet = recallbench("matrix", "--show", folder, "--format", "csv", cwd=workspace)
    rows = {row["encoder"]: row for row in csv.DictReader(io.StringIO(sheet.stdout))}
    assert [rows[name]["per_kib"] for name in ("python:enc:exact", "python:enc:same")] == ["1.28", "6.4"]
    assert [rows[name]["recall_any@10"] for name in ("BM25", "chance")] == ["1", "0.05"]
    speed = 1000 * first["effort"]["seconds"] / 64
    assert float(rows["python:enc:exact"]["per_cpu_second"]) == pytest.approx(1 / speed)
    assert sheet.stdout == (folder / "cells.csv").read_text()
    assert sheet.stderr.splitlines()[-1].startswith("On team ")
    shown = recallbench("matrix", "--show", folder, cwd=workspace).stdout
    assert shown == done.stdout.replace(" out/", f" {workspace}/out/")
    last = done.stdout.splitlines()[-1]
    assert last.startswith("On team python:enc:exact leads, recall_any@10 1.0000, not told apart from BM25; ")
    # What it says next can be pasted.
    command = last.partition("; next: ")[2].split()
    assert command[:2] == ["recallbench", "compare"]
    assert all((workspace / place / "metrics.json").is_file() for place in command[2:])
    page = recallbench("matrix", "--show", folder, "--format", "html", cwd=workspace).stdout
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<svg") == 1
    assert page.count(" leads, ") == 1
    assert "team: 200 questions, 200 segments\n" in shown
    assert [line.split()[0] for line in shown.splitlines() if "– python:enc:same" in line] == ["team"] * 2
    assert "labelled/" not in shown + page
    assert "by a probe that embeds 64 segments of the corpus anew, whatever the cache holds (" in shown
    assert (folder / "matrix.svg").read_text().count("<circle") == 2 + 1  # the last one is in the legend
    assert "found: a matrix, as its matrix.json says" in recallbench("audit", folder, cwd=workspace).stderr
    (folder / "cells.csv").write_text("")
    changed = recallbench("matrix", "--show", folder, cwd=workspace)
    assert (changed.returncode, changed.stdout) == (2, "")
    assert "was changed after it was written" in changed.stderr


def test_a_killed_matrix_goes_on_and_a_damaged_cell_is_measured_again(workspace: Path) -> None:
    words = [*MATRIX, "python:enc:same,python:enc:waits"]
    process = subprocess.Popen([sys.executable, "-m", "recallbench", *words], cwd=workspace, env=environment(workspace))
    ends = time.monotonic() + 60
    while not (workspace / "waiting").exists() and time.monotonic() < ends:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    (measured,) = (workspace / "out/cells").glob("*/")
    assert folders(workspace) == []
    before = {path: path.stat().st_mtime_ns for path in (*measured.iterdir(), *(workspace / "out/efforts").iterdir())}
    (workspace / "go").touch()
    again = recallbench(*words, cwd=workspace)
    assert again.returncode == 0
    assert "1 of 2 cells had been measured before, and were read." in again.stdout
    assert [cell["kept"] for cell in document(folders(workspace)[0])["cells"]] == [True, False]
    assert {path: path.stat().st_mtime_ns for path in before} == before
    noted = [word for word in words if word != "-q"]
    (standing,) = folders(workspace)
    repeated = recallbench(*noted, cwd=workspace)
    assert f"nothing was measured, and {standing.relative_to(workspace)} says the same" in repeated.stderr
    assert repeated.stdout == again.stdout
    assert folders(workspace) == [standing]
    (measured / "run.trec").write_text("")
    damaged = recallbench(*noted, cwd=workspace)
    assert damaged.returncode == 0
    (told,) = [line for line in damaged.stderr.splitlines() if " can be deleted" in line]
    assert told.startswith(f"{measured.relative_to(workspace)} is not as its manifest says; ")
    assert "run.trec" in told
    last = document(folders(workspace)[-1])["cells"]
    assert [cell["kept"] for cell in last] == [False, True]
    assert last[0]["folder"] == f"../cells/{measured.name}_2"


def test_a_cell_that_fails_is_named_and_the_others_go_on(workspace: Path) -> None:
    corpora = f"--corpora={workspace / 'team'},locomo"
    (workspace / "locomo").mkdir()  # is not taken for the corpus of that name
    words = (corpora, "--encoders", "python:enc:fails,python:enc:same")
    done = recallbench("matrix", *words, "--out", "out", "--no-download", cwd=workspace)
    assert done.returncode == 1
    assert "no weights today" in done.stderr
    cells = document(folders(workspace)[0])["cells"]
    assert [bool(cell["failure"]) for cell in cells] == [True, False, True, True]
    assert [corpus["n"] for corpus in document(folders(workspace)[0])["corpora"]] == [200, 0]
    failed = [line.partition(": ")[0] for line in done.stdout.splitlines()[:-1] if " failed: " in line]
    assert failed == [
        "python:enc:fails on team failed",
        "python:enc:fails on locomo failed",
        "python:enc:same on locomo failed",
    ]
    words_of_it = document(folders(workspace)[0])["environment"]["command"]
    assert words_of_it[:3] == ["recallbench", "matrix", "--corpora=team,locomo"]
    assert str(workspace) not in (folders(workspace)[0] / "matrix.json").read_text()
    assert done.stdout.endswith(
        "; 3 of 4 cells failed; next: try those that failed: recallbench matrix "
        f"{shlex.join([*words, '--out', 'out', '--no-download'])}\n"
    )
    assert recallbench("matrix", "--show", folders(workspace)[0], cwd=workspace).returncode == 1


def test_a_set_of_ones_own_is_called_as_its_user_types_it(tmp_path: Path) -> None:
    beir(tmp_path / "locomo")
    words = ("matrix", "--corpora", "./locomo", "--encoders", "hash", "--out", "out", "-q")
    assert recallbench(*words, cwd=tmp_path).returncode == 0
    (folder,) = folders(tmp_path)
    words_of_it = document(folder)["environment"]["command"]
    assert words_of_it[:4] == ["recallbench", "matrix", "--corpora", "./locomo"]


@pytest.mark.parametrize(
    ("encoders", "corpora", "words"),
    [
        ("hash,minilmm", "canary-locomo", "there is no encoder called 'minilmm'"),
        ("hash@64", "canary-locomo", "hash has a length of its own"),
        ("hash", "canary-locomo,nowhere", "nowhere"),
        ("hash", "", "a matrix has encoders and corpora"),
        ("hash", "canary-locomo --store=bm25", "a store that searches vectors: a matrix compares encoders"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(tmp_path: Path, encoders: str, corpora: str, words: str) -> None:
    done = recallbench("matrix", "--encoders", encoders, "--out", "out", *f"--corpora={corpora}".split(), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_interrupted_matrix_says_how_many_cells_are_kept(workspace: Path) -> None:
    done = recallbench(*MATRIX, "python:enc:same,python:enc:stops", cwd=workspace)
    assert done.returncode == 130
    assert "1 of 2 cells is kept: the same command goes on from there" in done.stderr
