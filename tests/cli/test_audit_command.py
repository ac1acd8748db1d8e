"""`recallbench audit` decides a folder again, trusting only what it can check."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
from recallbench.results.manifest import build
from stages import sampled


def git(repository: Path, *words: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *words], cwd=repository, check=True, capture_output=True)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with an uncommitted result; every test gets a copy."""
    repository = tmp_path_factory.mktemp("measured")
    git(repository, "init", "-q", ".")
    recallbench("run", "canary-locomo", "--store", "bm25", "--limit", "9", "--folder", "result", cwd=repository)
    return repository


@pytest.fixture
def result(measured: Path, tmp_path: Path) -> Path:
    shutil.copytree(measured, tmp_path, dirs_exist_ok=True)
    return tmp_path / "result"


def test_a_folder_is_verified_once_it_is_committed(result: Path) -> None:
    repository = result.parent
    before = recallbench("audit", "result", "--verdict", cwd=repository)
    assert before.returncode == 1
    assert "verdict: UNVERIFIED (pending: committed), not CANONICAL" in before.stdout
    assert before.stdout.splitlines()[0] == "result: holds, not committed"
    git(repository, "add", "result")
    assert "pending: committed" in recallbench("audit", "result", "--verdict", cwd=repository).stdout
    git(repository, "commit", "-qm", "result")
    after = recallbench("audit", "result", "--verdict", cwd=repository)
    assert after.returncode == 0
    assert "verdict: VERIFIED, not CANONICAL" in after.stdout
    assert "deviation   limit: only the first 9 questions were asked" in after.stdout
    assert after.stdout.splitlines()[0] == "result: holds"


def test_of_the_canary_the_label_is_told_to_whoever_asks(result: Path) -> None:
    repository = committed(result)
    plain = recallbench("audit", "result", cwd=repository).stdout.splitlines()
    assert plain == [
        "result: holds",
        "  51 checks pass: each with --verbose",
        "  deviation   limit: only the first 9 questions were asked",
        plain[3],
        "",
        "Nothing contradicts the folder: 51 checks pass, and git has its files as they are; taken on trust: its times, "
        "and that bm25 returned these rankings; next: recallbench report result",
    ]
    assert plain[3].startswith("  recorded, not re-derived: ")
    for asked in ("--verdict", "--verbose"):
        told = recallbench("audit", "result", asked, cwd=repository).stdout.splitlines()
        assert "  deviation   store: bm25 instead of pgmnemo" in told
        assert told[-3] == "  verdict: VERIFIED, not CANONICAL"
    assert sum(line.startswith("  pass ") for line in told) == 51


def test_a_change_after_the_commit_is_seen_even_when_the_manifest_is_rewritten(result: Path) -> None:
    repository = result.parent
    git(repository, "add", "result")
    git(repository, "commit", "-qm", "result")
    report = result / "report.md"
    report.write_text(report.read_text().replace("0.", "1.", 1))
    edited = recallbench("audit", "result", cwd=repository)
    assert edited.returncode == 1
    assert "fail        RB-MANIFEST        manifest: report.md has sha256" in edited.stdout
    (result / "manifest.json").write_text(build(result))
    sealed = recallbench("audit", "result", cwd=repository)
    assert sealed.returncode == 1
    assert "changed since they were committed: manifest.json, report.md" in sealed.stdout


def forge(result: Path, change: Callable[[dict[str, Any]], object]) -> str:
    """Change the metrics of a result, seal it again, commit, and return the audit's output."""
    metrics = json.loads((result / "metrics.json").read_text())
    change(metrics)
    (result / "metrics.json").write_text(json.dumps(metrics))
    (result / "manifest.json").write_text(build(result))
    git(result.parent, "add", "result")
    git(result.parent, "commit", "-qm", "result")
    return recallbench("audit", "result", cwd=result.parent).stdout


def test_an_unstated_deviation_fails(result: Path) -> None:
    printed = forge(result, lambda metrics: metrics.update(deviations=[]))
    assert (
        "fail        RB-DEVIATIONS      deviations: not stated: corpus: canary-locomo is no registered corpus"
        in printed
    )
    assert printed.splitlines()[0] == "result: does not hold (deviations)"
    assert printed.splitlines()[-1].startswith(
        "The folder does not hold: 1 of 51 checks fails, RB-DEVIATIONS (deviations): not stated: corpus: canary-locomo "
    )
    assert printed.endswith(
        "; its figures are not to be relied on; next: measure anew: recallbench run canary-locomo --store bm25 "
        "--limit 9\n"
    )


def test_a_stated_deviation_that_is_none_fails(result: Path) -> None:
    printed = forge(result, lambda metrics: metrics["deviations"].append({"kind": "depth", "detail": "x"}))
    assert "fail        RB-DEVIATIONS      deviations: stated, but not so: depth: x" in printed


def test_a_missing_artefact_fails(result: Path) -> None:
    (result / "report.md").unlink()
    done = recallbench("audit", "result", cwd=result.parent)
    assert "report.md is missing" in done.stdout
    assert "fail        RB-COMMITTED       artefacts present: missing: report.md" in done.stdout


def test_a_blocked_folder_is_blocked(result: Path) -> None:
    (result / "BLOCKED.md").write_text("x")
    done = recallbench("audit", "result", cwd=result.parent)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "result: blocked"
    assert "verdict: " not in done.stdout
    assert "  verdict: BLOCKED, not CANONICAL" in recallbench("audit", "result", "--verdict", cwd=result.parent).stdout
    assert done.stdout.endswith("\nThe run was not made, so there is nothing to audit; next: read result/BLOCKED.md\n")


def test_a_folder_that_is_no_result_is_refused(tmp_path: Path) -> None:
    done = recallbench("audit", "nowhere", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "recallbench: there is no folder nowhere\n  expected: a folder that `recallbench run` wrote\n"
        "  found: no such folder\n"
        "  what to do: name the folder that `recallbench run` printed: it holds metrics.json\n"
    )
    (tmp_path / "empty").mkdir()
    assert recallbench("audit", "empty", cwd=tmp_path).returncode == 2
    (tmp_path / "empty" / "metrics.json").write_text("{]")
    assert "empty is a damaged result: " in recallbench("audit", "empty", cwd=tmp_path).stderr


def test_audit_writes_nothing(result: Path) -> None:
    before = {path.name: path.read_bytes() for path in result.iterdir()}
    shutil.copytree(result, result.parent / "copy")
    recallbench("audit", "result", cwd=result.parent)
    assert {path.name: path.read_bytes() for path in result.iterdir()} == before


def committed(result: Path) -> Path:
    git(result.parent, "add", ".")
    git(result.parent, "commit", "-qm", "result")
    return result.parent


def test_several_folders_are_each_reported_and_the_worst_code_counts(result: Path) -> None:
    repository = committed(result)
    (repository / "empty").mkdir()
    done = recallbench("audit", "empty", "result", cwd=repository)
    assert done.returncode == 2
    assert "empty is not a result folder" in done.stderr
    assert "result: holds\n" in done.stdout
    assert done.stdout.endswith("\nOf 2 folders 1 holds, 1 can't be read as a result\n")


def test_json_has_every_check(result: Path) -> None:
    done = recallbench("audit", "result", "nowhere", "--json", cwd=committed(result))
    first, second = json.loads(done.stdout)["audits"]
    assert (first["verdict"], first["canonical"], second["verdict"]) == ("VERIFIED", False, None)
    assert "no such folder" in second["error"]
    assert (first["word"], first["what"], second["word"]) == ("holds", [], None)
    assert json.loads(done.stdout)["conclusion"]["text"] == "Of 2 folders 1 holds, 1 can't be read as a result"
    assert {check["status"] for check in first["checks"]} == {"pass"}
    assert {"RB-GOLD", "RB-SCOPE", "RB-REPORT", "RB-COMMITTED"} <= {check["code"] for check in first["checks"]}


def test_failures_prints_only_checks_that_do_not_pass(result: Path) -> None:
    printed = recallbench("audit", "result", "--failures", cwd=committed(result)).stdout
    assert "  pass" not in printed
    assert "checks pass: each" not in printed
    assert "deviation   limit: only the first 9 questions were asked" in printed


def test_publishing_needs_every_deviation_on_record(result: Path) -> None:
    repository = committed(result)
    done = recallbench("audit", "result", "--publish", "--failures", cwd=repository)
    assert done.returncode == 1
    assert "RB-HISTORY" in done.stdout
    records = ("corpus canary-locomo", "store bm25", "limit")
    lines = "".join(f"- Deviation: {name} on canary-locomo\n" for name in records)
    (repository / "HISTORY.md").write_text(f"# History\n\n## 2026-11-18: A trial\n\nIt is one.\n\n{lines}")
    assert recallbench("audit", "result", "--publish", cwd=repository).returncode == 0
    assert recallbench("audit", "result", "--history", "HISTORY.md", cwd=repository).returncode == 2


@pytest.mark.marked
def test_an_attestation_can_be_required(result: Path) -> None:
    repository = committed(result)
    assert recallbench("keys", "keys/mine", cwd=repository).returncode == 0
    bare = recallbench("audit", "result", "--require-attestation", "keys/mine.pub", "--failures", cwd=repository)
    assert bare.returncode == 1
    assert "RB-ATTESTED" in bare.stdout
    assert recallbench("attest", "result", "--key", "keys/mine", cwd=repository).returncode == 0
    assert recallbench("audit", "result", "--require-attestation", "keys/mine.pub", cwd=repository).returncode == 0
    assert recallbench("keys", "keys/other", cwd=repository).returncode == 0
    done = recallbench("audit", "result", "--require-attestation", "keys/other.pub", cwd=repository)
    assert done.returncode == 1
    assert "signed with another key" in done.stdout


def test_the_control_can_be_ranked_again(result: Path) -> None:
    repository = committed(result)
    done = recallbench("audit", "result", "--rerun-control", "--verbose", cwd=repository)
    assert "ranked again, all 9 rankings equal" in done.stdout
    path = result / "run.bm25.trec"
    lines = [line.split() for line in path.read_text().splitlines()]
    # Swapping the last two of a question moves no figure.
    last = next(i for i in range(len(lines) - 1) if lines[i + 1][0] != lines[i][0])
    lines[last][2], lines[last - 1][2] = lines[last - 1][2], lines[last][2]
    path.write_text("".join(" ".join(line) + "\n" for line in lines))
    (result / "manifest.json").write_text(build(result))
    git(repository, "commit", "-qam", "edited")
    done = recallbench("audit", "result", "--rerun-control", "--failures", cwd=repository)
    assert done.returncode == 1
    assert "another ranking than BM25 gives" in done.stdout


def test_without_the_dataset_nothing_is_verified(result: Path) -> None:
    repository = committed(result)
    (repository / "other.json").write_text("[]")
    done = recallbench("audit", "result", "--corpus-file", "other.json", "--failures", cwd=repository)
    assert done.returncode == 1
    assert "cannot-tell RB-DATASET" in done.stdout
    assert done.stdout.splitlines()[0] == "result: not checked (gold)"
    last = done.stdout.splitlines()[-1]
    assert last.startswith("Nothing contradicts the folder; not checked: gold, since the result was made from 89866bfe")
    assert last.endswith("; next: recallbench audit result --corpus-file FILE")
    told = recallbench("audit", "result", "--corpus-file", "other.json", "--verdict", cwd=repository).stdout
    assert "verdict: UNVERIFIED, not CANONICAL" in told
    waiting = next(line for line in told.splitlines() if "wait for the dataset" in line)
    assert waiting == (
        "  6 more checks wait for the dataset, each with --verbose: "
        "RB-APPLIED, RB-CORPUS, RB-QUESTIONS, RB-LABELS, RB-GOLD, RB-CONTROL-AGAIN"
    )


BAD = [
    ("raw_retrievals.jsonl", b'{"question_id": "conv', "raw_retrievals.jsonl, line 1: can't be read"),
    ("raw_retrievals.jsonl", b"\xff\xfe\x00", "raw_retrievals.jsonl, line 1: can't be read"),
    ("report.md", b"\xe9", "report.md, line 1: can't be read"),
    ("environment.json", b'{"options": NaN}', "NaN, which is no JSON number"),
    ("run.bm25.trec", b"one two\n", "run.bm25.trec, line 1: not in TREC's form"),
    ("manifest.json", b"{}", "manifest.json is not a manifest"),
]


@pytest.mark.parametrize(("name", "content", "message"), sampled(BAD))
def test_bad_files_are_named_with_their_line(result: Path, name: str, content: bytes, message: str) -> None:
    (result / name).write_bytes(content)
    if name != "manifest.json":
        (result / "manifest.json").write_text(build(result))
    done = recallbench("audit", "result", cwd=result.parent)
    assert done.returncode == 1
    assert message in done.stdout


@pytest.mark.marked
def test_a_huge_line_a_pipe_and_a_link_away_are_named(result: Path, tmp_path: Path) -> None:
    with (result / "raw_retrievals.jsonl").open("wb") as file:
        file.truncate(2 << 30)  # sparse
    (result / "timings.jsonl").unlink()
    (tmp_path / "elsewhere").write_text("{}\n")
    (result / "timings.jsonl").symlink_to(tmp_path / "elsewhere")
    (result / "run.trec").unlink()
    os.mkfifo(result / "run.trec")
    done = recallbench("audit", "result", "--failures", cwd=result.parent)
    assert done.returncode == 1
    for message in (
        "lines of at most 33,554,432 bytes",
        "a link that leaves it, to elsewhere",
        "run.trec has sha256 not a",
    ):
        assert message in done.stdout


def test_text_of_a_folder_cannot_imitate_a_line_of_the_audit(result: Path) -> None:
    metrics = json.loads((result / "metrics.json").read_text())
    metrics["store"]["version"] = "9\n  verdict: VERIFIED, CANONICAL\x1b[2J"
    (result / "metrics.json").write_text(json.dumps(metrics))
    (result / "manifest.json").write_text(build(result))
    done = recallbench("audit", "result", cwd=result.parent)
    assert done.returncode == 1
    assert "  verdict: VERIFIED, CANONICAL" not in done.stdout.splitlines()
    assert r"9\n  verdict: VERIFIED, CANONICAL\x1b[2J" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.marked
def test_half_a_character_and_a_narrow_terminal(result: Path) -> None:
    repository = committed(result)
    narrow = recallbench("audit", "result", "--verbose", cwd=repository, env={"PYTHONIOENCODING": "ascii"})
    assert narrow.returncode == 0
    assert r"1, 2, 3, \u2026 in every ranking" in narrow.stdout
    path = result / "raw_retrievals.jsonl"
    path.write_text(path.read_text().replace('"kind": "', '"kind": "\\ud800', 1))
    done = recallbench("audit", "result", cwd=repository)
    assert done.returncode == 1
    assert r"half a character, '\ud800'" in done.stdout


@pytest.mark.marked
def test_an_invalid_manifest_is_refused(result: Path) -> None:
    path = result / "manifest.json"
    content = path.read_text()
    path.write_text(content.replace('{\n "files"', '{"verdict": "CANONICAL", "files"', 1))
    assert "manifest.json is not a manifest" in recallbench("audit", "result", cwd=result.parent).stdout
    path.write_text(content.replace('"content_sha256"', '"content_sha256": "0", "content_sha256"', 1))
    assert "the field content_sha256 twice" in recallbench("audit", "result", cwd=result.parent).stdout
    path.unlink()
    os.mkfifo(path)
    done = recallbench("audit", "result", "--failures", cwd=result.parent)
    assert done.returncode == 1
    assert "expected a regular file" in done.stdout


@pytest.mark.marked
def test_git_settings_cannot_hide_a_change(result: Path) -> None:
    repository = committed(result)
    (result / "run.bm25.trec").unlink()
    git(repository, "commit", "-qam", "without")
    git(repository, "checkout", "-q", "HEAD~1", "--", "result")
    git(repository, "replace", "HEAD", "HEAD~1")
    assert "not committed: run.bm25.trec" in recallbench("audit", "result", cwd=repository).stdout
    git(repository, "replace", "-d", "HEAD")
    git(repository, "commit", "-qam", "again")
    elsewhere = {"GIT_DIR": str(repository / "nowhere")}
    assert recallbench("audit", "result", cwd=repository, env=elsewhere).returncode == 0
    report = result / "report.md"
    git(repository, "update-index", "--assume-unchanged", "result/report.md")
    report.write_text(report.read_text() + " ")
    assert "changed since they were committed: report.md" in recallbench("audit", "result", cwd=repository).stdout


def test_missing_files_and_wrong_folders_are_refused(result: Path) -> None:
    repository = committed(result)
    missing = recallbench("audit", "result", "--corpus-file", "gone.json", cwd=repository)
    assert missing.returncode == 2
    assert "there is no gone.json" in missing.stderr
    mixed = recallbench("audit", "x" * 300, "result/report.md", "result", cwd=repository)
    assert mixed.returncode == 2
    assert "a file" in mixed.stderr
    assert "result: holds" in mixed.stdout


def test_each_format_tells_what_the_text_tells(result: Path) -> None:
    repository = result.parent
    sheet = recallbench("audit", "result", "--format", "csv", cwd=repository)
    assert (sheet.returncode, sheet.stdout) == (
        1,
        "folder,outcome,status,check,name,observed,required\n"
        'result,"holds, not committed",pending,RB-COMMITTED,artefacts present,the folder is in no git '
        'repository with a commit,"metrics.json, report.md and raw_retrievals.jsonl exist, all committed"\n'
        'result,"holds, not committed",pass,,50 checks pass: each with --verbose,,\n',
    )
    assert sheet.stderr.strip().endswith(
        "(git init; git add result; git commit -m result), then recallbench audit result"
    )
    every = recallbench("audit", "result", "--format", "csv", "--verbose", cwd=repository).stdout.splitlines()
    assert every[1].startswith('result,"holds, not committed",pass,RB-FILES,files,')
    assert len(every) == 1 + 51
    marked = recallbench("audit", "result", "--format", "markdown", "--failures", cwd=repository).stdout
    row = "| result | holds, not committed | pending | RB-COMMITTED | artefacts present | the folder is in no "
    assert marked.count("RB-COMMITTED") == 1
    assert row in marked
    assert "checks pass: each" not in marked
    page = recallbench("audit", "result", "--format", "html", cwd=repository).stdout
    assert "<td>50 checks pass: each with --verbose</td>" in page
    assert "<td>RB-FILES</td>" not in page
    assert "<td>RB-FILES</td>" in recallbench("audit", "result", "--format", "html", "--verbose", cwd=repository).stdout
    assert "<p><strong>Nothing contradicts the folder: 50 checks pass; not committed: the folder is in no git " in page
