"""A corpus file of one's own, in the shape of a registered one, under a name of its own."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.corpora.canary import FOLDER

LOCOMO = ("--corpus-shape", "locomo", "--corpus-file", "chats.json")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    shutil.copy(FOLDER / "locomo.json", tmp_path / "chats.json")
    shutil.copy(FOLDER / "longmemeval.json", tmp_path / "items.json")
    return tmp_path


def test_a_run_bears_the_name_and_audits(workspace: Path) -> None:
    done = recallbench("run", *LOCOMO, "--name", "team chats", "--store", "bm25", cwd=workspace)
    assert done.returncode == 0
    assert done.stdout.startswith("own/team-chats+locomo, bm25, no embedder; ")
    assert "gate of the protocol failed" not in done.stdout
    (result,) = workspace.glob("benchmarks/own/team-chats/results/bm25_*")
    metrics = json.loads((result / "metrics.json").read_text())
    assert metrics["corpus"]["name"] == f"own/team-chats@{metrics['dataset_sha256']}+locomo"
    assert metrics["corpus"]["checks"] == []
    assert {gate["status"] for gate in metrics["gates"]} == {"pass", "pending"}
    audited = recallbench("audit", result, "--corpus-file", "chats.json", cwd=workspace)
    assert ": holds, not committed\n" in audited.stdout
    other = recallbench("audit", result, "--corpus-file", "items.json", cwd=workspace)
    assert "cannot-tell" in other.stdout


def test_a_file_of_longmemeval_s_shape_has_its_abilities_and_its_own_name_by_default(workspace: Path) -> None:
    words = ("--corpus-shape", "longmemeval", "--corpus-file", "items.json", "--store", "bm25", "--folder", "result")
    assert recallbench("run", *words, "--quiet", cwd=workspace).returncode == 0
    report = (workspace / "result/report.md").read_text()
    assert report.startswith("# own/items+longmemeval: bm25\n")
    assert "## By ability" in report


def test_a_settings_file_may_name_it_and_no_other_name_may_be_written_in(workspace: Path) -> None:
    (workspace / "mine.toml").write_text("corpus-shape = 'locomo'\ncorpus-file = 'chats.json'\nname = 'mine'\n")
    words = ("--config", "mine.toml", "--store", "bm25", "--limit", "3", "--quiet")
    assert recallbench("run", *words, "--folder", "set", cwd=workspace).returncode == 0
    assert "fail        RB-OPTIONS" not in recallbench("audit", "set", cwd=workspace).stdout
    assert recallbench("run", *words, "--name", "other", "--folder", "typed", cwd=workspace).returncode == 0
    environment = workspace / "typed/environment.json"
    environment.write_text(environment.read_text().replace('"other"', '"renamed"'))
    assert "fail        RB-OPTIONS" in recallbench("audit", "typed", cwd=workspace).stdout


def test_a_sweep_ends_with_a_command_that_measures_it(workspace: Path) -> None:
    (workspace / "tune.toml").write_text('[run]\nout = "out"\nstore = "bm25"\n[[point]]\nstore = "bm25"\n[baseline]\n')
    swept = recallbench("sweep", "tune.toml", *LOCOMO, "--name", "team chats", "-q", cwd=workspace)
    assert swept.returncode == 0
    measure = swept.stdout.splitlines()[-1].partition("; next: ")[2]
    named = "--corpus-shape locomo --corpus-file chats.json --name 'team chats'"
    assert measure == f"recallbench run {named} --store bm25"
    assert recallbench(*shlex.split(measure)[1:], cwd=workspace).returncode == 0


def test_repeat_and_grow_take_it_too(workspace: Path) -> None:
    grown = recallbench("grow", *LOCOMO, "--store", "bm25", "--factors", "1,2", "--quiet", cwd=workspace)
    assert (grown.returncode, "own/chats+locomo, bm25" in grown.stdout) == (0, True)
    repeated = recallbench("repeat", "2", *LOCOMO, "--store", "bm25", "--limit", "5", "--quiet", cwd=workspace)
    assert "own/chats+locomo" in repeated.stdout
    dry = recallbench("run", *LOCOMO, "--store", "bm25", "--dry-run", cwd=workspace)
    assert "\nReady: nothing is missing for the run; next: recallbench run " in dry.stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "expected: CORPUS, or --corpus-shape SHAPE --corpus-file FILE"),
        (("locomo", *LOCOMO), "leave locomo out"),
        ((*LOCOMO, "--name", "日本"), "can't have this name"),
        (("--name", "mine"), "found: no shape, no file"),
        (LOCOMO[:2], "found: --corpus-shape locomo, no file"),
        (("--corpus-shape", "beir", *LOCOMO[2:]), "expected: --corpus-shape longmemeval|locomo --corpus-file FILE"),
        ((*LOCOMO[:3], "absent.json"), "there is no file absent.json"),
        ((*LOCOMO[:3], "items.json", "--store", "bm25"), "items.json: conversation 1: field sample_id"),
    ],
)
def test_what_does_not_fit_is_refused(workspace: Path, words: tuple[str, ...], problem: str) -> None:
    done = recallbench("run", *words, cwd=workspace)
    assert (done.returncode, problem in done.stderr) == (2, True), done.stderr
