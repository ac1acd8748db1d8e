"""Each change to a genuine result fails the check that concerns it, though all hashes fit again."""

import shutil
import subprocess
from pathlib import Path

import pytest
from locomo_mutations import LOCOMO
from mutations import Mutation
from set_mutations import LABELLED, LONGMEMEVAL, MATCHED

from audited_copies import audit_copy
from commandline import recallbench
from labelled_sets import EXPECTING, SAYING, beir, short
from recallbench.audit.audit import Audit
from recallbench.audit.checks import CHECKS, LAST, ON_DEMAND
from recallbench.audit.decision import decide
from recallbench.audit.gates import GATES
from recallbench.results.manifest import build
from stages import sampled

NOT_MUTATED = {"RB-MANIFEST", "RB-COMMITTED", "RB-UNCHANGED", "RB-COVERAGE", "RB-GRANULARITY"}
"""The first three are about bytes, and every mutation is sealed; the last two follow from the dataset."""


def commit(folder: Path) -> None:
    for words in (
        ("init", "-q", "."),
        ("add", "-A"),
        ("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "result"),
    ):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def run_result(folder: Path, corpus: str, *more: str) -> Path:
    words = ("run", corpus, "--store", "exact", "--embedder", "hash", "--folder", "result", "--with-text", "-q", *more)
    assert recallbench(*words, cwd=folder).returncode == 0
    return folder / "result"


@pytest.fixture(scope="module")
def locomo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_result(tmp_path_factory.mktemp("locomo"), "canary-locomo", "--limit", "50")


@pytest.fixture(scope="module")
def longmemeval(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_result(tmp_path_factory.mktemp("longmemeval"), "canary-longmemeval")


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labelled")
    beir(folder / "team")
    words = ("evaluate", "team", "--store", "exact", "--embedder", "hash", "--folder", "result", "-q")
    assert recallbench(*words, cwd=folder).returncode == 0
    return folder / "result"


@pytest.fixture(scope="module")
def matched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("matched")
    short(folder / "team", EXPECTING, SAYING)
    words = ("evaluate", "team", "--match", "tokens", "--store", "bm25", "--folder", "result", "-q")
    assert recallbench(*words, cwd=folder).returncode == 0
    return folder / "result"


def audited(genuine: Path, workspace: Path, mutation: Mutation | None) -> Audit:
    folder = workspace / "result"
    shutil.copytree(genuine, folder)
    if mutation is not None:
        mutation.change(folder)
        (folder / "manifest.json").write_text(build(folder))
    else:
        commit(workspace)
    team = genuine.parent / "team"
    return audit_copy(folder, [team] if team.exists() else [])


def test_the_genuine_results_pass(
    locomo: Path, longmemeval: Path, labelled: Path, matched: Path, tmp_path: Path
) -> None:
    for genuine in (locomo, longmemeval, labelled, matched):
        report = audited(genuine, tmp_path / genuine.parent.name, None)
        assert [check for check in report.checks if check.status != "pass"] == []
        assert report.verdict.label == "VERIFIED"
        assert not report.verdict.canonical


def test_each_check_has_a_mutation() -> None:
    mutations = (*LOCOMO, *LONGMEMEVAL, *LABELLED, *MATCHED)
    assert len(mutations) >= 60
    assert len({mutation.name for mutation in mutations}) == len(mutations)
    codes = {check.code for check in (*CHECKS, *ON_DEMAND, *LAST)} | {gate.code for gate in GATES}
    assert {mutation.code for mutation in mutations} == codes - NOT_MUTATED


@pytest.mark.parametrize("mutation", sampled(LOCOMO), ids=lambda mutation: mutation.name)
def test_a_change_is_seen(locomo: Path, tmp_path: Path, mutation: Mutation) -> None:
    assert_seen(audited(locomo, tmp_path, mutation), mutation)


@pytest.mark.parametrize("mutation", sampled(LONGMEMEVAL), ids=lambda mutation: mutation.name)
def test_a_change_to_abstention_is_seen(longmemeval: Path, tmp_path: Path, mutation: Mutation) -> None:
    assert_seen(audited(longmemeval, tmp_path, mutation), mutation)


@pytest.mark.parametrize("mutation", sampled(LABELLED), ids=lambda mutation: mutation.name)
def test_a_change_to_a_labelled_set_is_seen(labelled: Path, tmp_path: Path, mutation: Mutation) -> None:
    assert_seen(audited(labelled, tmp_path, mutation), mutation)


@pytest.mark.parametrize("mutation", sampled(MATCHED), ids=lambda mutation: mutation.name)
def test_a_change_to_a_text_matched_set_is_seen(matched: Path, tmp_path: Path, mutation: Mutation) -> None:
    assert_seen(audited(matched, tmp_path, mutation), mutation)


def assert_seen(report: Audit, mutation: Mutation) -> None:
    """Assert that the mutation's check fails, and that it would if the folder were committed."""
    checks = [check for check in report.checks if check.code != "RB-COMMITTED"]
    wrong = {check.code: check for check in checks if check.status != "pass"}
    assert mutation.code in wrong, sorted(wrong)
    assert "broke down" not in " ".join(check.observed for check in wrong.values())
    assert "RB-MANIFEST" not in wrong
    verdict = decide(checks, report.deviations)
    assert verdict.label in ("UNVERIFIED", "BLOCKED")
    assert not verdict.canonical
