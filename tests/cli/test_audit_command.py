"""`recallbench audit` decides a folder again, trusting only what it can check."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
from recallbench.results.manifest import build


def git(place: Path, *words: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *words], cwd=place, check=True, capture_output=True)


@pytest.fixture
def result(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", ".")
    recallbench("run", "canary-locomo", "--store", "bm25", "--limit", "9", "--folder", "result", cwd=tmp_path)
    return tmp_path / "result"


def test_a_folder_is_verified_once_it_is_committed(result: Path) -> None:
    place = result.parent
    before = recallbench("audit", "result", cwd=place)
    assert before.returncode == 1
    assert "verdict: UNVERIFIED (pending: committed), not CANONICAL" in before.stdout
    git(place, "add", "result")
    assert "pending: committed" in recallbench("audit", "result", cwd=place).stdout
    git(place, "commit", "-qm", "result")
    after = recallbench("audit", "result", cwd=place)
    assert after.returncode == 0
    assert "verdict: VERIFIED, not CANONICAL" in after.stdout
    assert "deviation   limit: only the first 9 questions were asked" in after.stdout


def test_a_change_after_the_commit_is_seen_even_when_the_manifest_is_made_again(result: Path) -> None:
    place = result.parent
    git(place, "add", "result")
    git(place, "commit", "-qm", "result")
    report = result / "report.md"
    report.write_text(report.read_text().replace("0.", "1.", 1))
    assert "report.md has sha256" in recallbench("audit", "result", cwd=place).stdout
    (result / "manifest.json").write_text(build(result))
    sealed = recallbench("audit", "result", cwd=place)
    assert sealed.returncode == 1
    assert "changed since they were committed: manifest.json, report.md" in sealed.stdout


def forge(result: Path, change: Callable[[dict[str, Any]], object]) -> str:
    """Change what a committed result says of itself, seal it again, commit, and audit."""
    metrics = json.loads((result / "metrics.json").read_text())
    change(metrics)
    (result / "metrics.json").write_text(json.dumps(metrics))
    (result / "manifest.json").write_text(build(result))
    git(result.parent, "add", "result")
    git(result.parent, "commit", "-qm", "result")
    return recallbench("audit", "result", cwd=result.parent).stdout


def test_deviations_that_are_kept_quiet_are_found(result: Path) -> None:
    told = forge(result, lambda metrics: metrics.update(deviations=[]))
    assert (
        "fail        RB-DEVIATIONS      deviations: not stated: corpus: canary-locomo is no registered corpus" in told
    )
    assert "verdict: UNVERIFIED, not CANONICAL" in told


def test_a_deviation_that_is_none_is_found(result: Path) -> None:
    told = forge(result, lambda metrics: metrics["deviations"].append({"kind": "depth", "detail": "x"}))
    assert "fail        RB-DEVIATIONS      deviations: stated, but not so: depth: x" in told


def test_an_edited_file_fails_the_manifest(result: Path) -> None:
    git(result.parent, "add", "result")
    git(result.parent, "commit", "-qm", "result")
    (result / "timings.jsonl").write_text("")
    done = recallbench("audit", "result", cwd=result.parent)
    assert done.returncode == 1
    assert "fail        RB-MANIFEST        manifest: timings.jsonl has sha256" in done.stdout


def test_a_missing_artefact_fails(result: Path) -> None:
    (result / "report.md").unlink()
    done = recallbench("audit", "result", cwd=result.parent)
    assert "report.md is missing" in done.stdout
    assert "fail        RB-COMMITTED       artefacts present: missing: report.md" in done.stdout


def test_a_blocked_folder_is_blocked(result: Path) -> None:
    (result / "BLOCKED.md").write_text("x")
    done = recallbench("audit", "result", cwd=result.parent)
    assert done.returncode == 1
    assert "verdict: BLOCKED" in done.stdout


def test_what_is_no_result_folder_is_said_to_be_none(tmp_path: Path) -> None:
    assert recallbench("audit", "nowhere", cwd=tmp_path).returncode == 2
    (tmp_path / "empty").mkdir()
    assert recallbench("audit", "empty", cwd=tmp_path).returncode == 2
    (tmp_path / "empty" / "metrics.json").write_text("{]")
    assert "is not a result folder" in recallbench("audit", "empty", cwd=tmp_path).stderr


def test_audit_writes_nothing(result: Path) -> None:
    before = {path.name: path.read_bytes() for path in result.iterdir()}
    shutil.copytree(result, result.parent / "copy")
    recallbench("audit", "result", cwd=result.parent)
    assert {path.name: path.read_bytes() for path in result.iterdir()} == before
