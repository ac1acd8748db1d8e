"""The examples for CI and the hooks: valid, of commands that exist, and run as they stand."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from commandline import environment, installed, recallbench

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / "examples" / "github").glob("*.yml"))
GATED = [path for path in WORKFLOWS if path.stem != "sweep"]
each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=[path.name for path in WORKFLOWS])
each_gated = pytest.mark.parametrize("path", GATED, ids=[path.name for path in GATED])
ON_PULL_REQUEST = ("pull_request", "sweep")

MEMORY = """
def open_memory(items, vectors):
    words = {item.id: set(item.text.lower().split()) for item in items}
    def search(query, k):
        query_words = set(query.text.lower().split())
        scored = [(id, float(len(query_words & known))) for id, known in words.items()]
        return sorted(scored, key=lambda hit: -hit[1])[:k]
    return search
open_memory.needs_vectors = False
"""


def read(path: Path) -> Any:
    """The file as YAML, in which `on` is no boolean."""
    return yaml.load(path.read_text("utf-8"), Loader=yaml.BaseLoader)


def steps(path: Path) -> list[dict[str, Any]]:
    (job,) = read(path)["jobs"].values()
    return list(job["steps"])


def scripts(path: Path) -> dict[str, str]:
    return {step["name"]: step["run"] for step in steps(path) if "run" in step}


def options_of(command: str, cwd: Path) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", recallbench(command, "--help", cwd=cwd).stdout))


@each_workflow
def test_a_workflow_has_its_parts_and_pins_its_actions(path: Path) -> None:
    workflow = read(path)
    assert set(workflow) == {"name", "on", "permissions", "concurrency", "defaults", "jobs"}
    assert workflow["defaults"]["run"]["shell"] == "bash"  # with pipefail, which the default lacks
    assert workflow["on"].keys() == (
        {"pull_request"} if path.stem in ON_PULL_REQUEST else {"schedule", "workflow_dispatch"}
    )
    assert workflow["permissions"].pop("pull-requests", "") == ("write" if path.stem in ON_PULL_REQUEST else "")
    assert workflow["permissions"] == {"contents": "read"}
    used = [step["uses"] for step in steps(path) if "uses" in step]
    assert len(used) >= 3
    assert [action for action in used if not re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", action)] == []
    for step in steps(path):
        assert len({"uses", "run"} & step.keys()) == 1
        # Text that a stranger may have written reaches a shell through variables alone.
        assert "${{" not in step.get("run", "")


@each_workflow
def test_it_installs_from_the_repository_and_no_more_than_it_needs(path: Path) -> None:
    # No package of this name is on the index: installing it from there may get a stranger's.
    run = scripts(path)["Install"]
    lines = [shlex.split(line, comments=True) for line in run.splitlines()]
    (ours,) = [line[4:] for line in lines if line[:4] == ["python", "-m", "pip", "install"]]
    assert ours == ["git+https://github.com/<owner>/recallbench@<tag>"]
    assert "# <owner> and <tag>: the repository" in run


@each_workflow
def test_its_commands_are_those_of_the_program(path: Path, tmp_path: Path) -> None:
    words = [shlex.split(line, comments=True) for run in scripts(path).values() for line in run.splitlines()]
    ours = [line[1:] for line in words if line and line[0] == "recallbench"]
    assert {arguments[0] for arguments in ours} >= ({"sweep"} if path.stem == "sweep" else {"evaluate", "gate"})
    for command, *rest in ours:
        options = {word for word in rest if word.startswith("--")}
        assert options <= options_of(command, tmp_path), (command, rest)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A team's repository, with what the examples expect in it."""
    documents = [("d1", "Acme ships from Portland"), ("d2", "Ines is allergic to shellfish"), ("d3", "It is in Python")]
    questions = [("where does Acme ship from", "d1"), ("what is Ines allergic to", "d2"), ("what is Python for", "d3")]
    (tmp_path / "recall-set").mkdir()
    for name, rows in (
        ("corpus", [{"_id": id, "text": text} for id, text in documents]),
        ("gold", [{"query": query, "relevant": [id], "kind": "fact"} for query, id in questions]),
    ):
        (tmp_path / "recall-set" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "my_memory.py").write_text(MEMORY)
    (tmp_path / "recallbench.toml").write_text((ROOT / "examples/github/recallbench.toml").read_text())
    return tmp_path


def shell(text: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """As a runner would: the program is on the path, and `set -eo pipefail` holds."""
    programs = cwd / "bin"
    path = installed(programs)
    (programs / "gh").write_text('#!/bin/sh\nprintf "%s\\n" "$@" > gh.txt\n')
    (programs / "gh").chmod(0o755)
    variables = environment(cwd, {"PATH": path, **env})
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text]
    done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False)
    print(f"$ {text}\n{done.stdout}{done.stderr}[exit {done.returncode}]")
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.marked
@each_gated
def test_it_runs_as_it_stands(path: Path, checkout: Path) -> None:
    by_step = scripts(path)
    assert shell(by_step["Measure"], checkout).returncode == 0
    assert "is not there" in shell(by_step["Gate"], checkout).stderr
    assert shell(by_step["Job summary"].replace(" drift.md", ""), checkout, GITHUB_STEP_SUMMARY="s.md").returncode == 0
    assert (checkout / "s.md").read_text() == "The gate could not decide: the log of its step says why.\n"
    assert shell("recallbench gate --update", checkout).returncode == 0
    for name in ("Gate", "Drift", "Job summary", "Comment"):
        if name in by_step:
            env = {"GITHUB_STEP_SUMMARY": "summary.md", "NUMBER": "7", "GH_TOKEN": "none", "GH_REPO": "a/b"}
            assert shell(by_step[name], checkout, **env).returncode == 0, name
    summary = (checkout / "summary.md").read_text()
    assert "all 5 thresholds hold" in summary
    if path.stem == "nightly":
        assert "recall_any@10 of callable" in summary
        assert (checkout / "drift.svg").is_file()
    else:
        assert (checkout / "gh.txt").read_text().splitlines()[:3] == ["pr", "comment", "7"]
    # A memory that got worse fails the step, but its table is still posted.
    (checkout / "my_memory.py").write_text(MEMORY.replace("float(len", "-float(len"))
    assert shell(by_step["Measure"], checkout).returncode == 0
    assert shell(by_step["Gate"], checkout).returncode == 1
    assert shell(by_step["Job summary"], checkout, GITHUB_STEP_SUMMARY="worse.md").returncode == 0
    assert "fall short" in (checkout / "worse.md").read_text()


def as_pull_request(checkout: Path, merged: str, changed: str) -> None:
    """What a runner checks out of a pull request: the commit that would merge it."""

    def git(*words: str) -> None:
        as_someone = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *as_someone, *words], cwd=checkout, check=True, capture_output=True)

    def commit(text: str) -> None:
        (checkout / "my_memory.py").write_text(text)
        git("add", "my_memory.py")
        git("commit", "-m", "A memory", "--allow-empty")

    git("init", "-b", "main")
    commit(merged)
    git("checkout", "-B", "change")
    commit(changed)
    git("checkout", "main")
    git("merge", "--no-ff", "change", "-m", "As it would be merged")


@pytest.mark.marked
def test_the_sweep_posts_its_table_and_its_picture_also_where_no_point_keeps_the_gates(checkout: Path) -> None:
    by_step = scripts(ROOT / "examples/github/sweep.yml")
    weighted = "float(len(query_words & known)) * (1 if weight else -1)"
    memory = MEMORY.replace("(items, vectors)", "(items, vectors, *, weight=1)")
    memory = memory.replace("float(len(query_words & known))", weighted)
    as_pull_request(checkout, memory, memory + "\n# changed\n")
    (checkout / "tune.toml").write_text((ROOT / "examples/github/tune.toml").read_text())
    env = {"GITHUB_STEP_SUMMARY": "summary.md", "NUMBER": "7", "GH_TOKEN": "none", "GH_REPO": "a/b"}
    for name in ("Merged code", "Sweep", "Job summary", "Comment"):
        assert shell(by_step[name], checkout, **env).returncode == 0, name
    summary = (checkout / "summary.md").read_text()
    assert "# Sweep tune on recall-set: 4 points" in summary
    assert "```mermaid\nxychart-beta\n" in summary
    assert "| p1 | 0 | " in summary
    assert (checkout / "gh.txt").read_text().splitlines()[:3] == ["pr", "comment", "7"]
    assert (checkout / "comment.md").read_text() == summary
    kept = steps(ROOT / "examples/github/sweep.yml")[-1]["with"]["path"]
    (folder,) = (checkout / kept).glob("sweep_*")
    assert {"report.html", "recall_by_p95.svg", "points.csv"} <= {file.name for file in folder.iterdir()}
    # A comment of an earlier push is found, and written anew.
    (checkout / "bin/gh").write_text(
        '#!/bin/sh\nprintf "%s\\n" "$@" >> gh.txt\ntest "$3" = --paginate && echo 41 || true\n'
    )
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", by_step["Comment"]],
        cwd=checkout,
        env=environment(checkout, {"PATH": f"{checkout / 'bin'}:{os.environ['PATH']}", **env}),
        check=False,
    )
    assert done.returncode == 0
    assert (checkout / "gh.txt").read_text().splitlines()[-5:] == [
        *("--method", "PATCH", "repos/a/b/issues/comments/41"),
        *("--field", "body=@comment.md"),
    ]
    assert "Gate recall_any@1 >= baseline, held out: kept" in summary.replace("\\", "").replace("&gt;", ">")
    # The change makes the memory worse whatever the weight: the gate as it is fails, and the table is still posted.
    as_pull_request(checkout, memory, memory.replace("float(len", "-abs(float(len").replace(" else -1)", " else -1))"))
    assert shell(by_step["Merged code"], checkout).returncode == 0
    assert (checkout / "merged_memory.py").read_text() == memory
    assert shell(by_step["Sweep"], checkout).returncode == 1
    assert shell(by_step["Job summary"], checkout, GITHUB_STEP_SUMMARY="worse.md").returncode == 0
    worse = (checkout / "worse.md").read_text()
    assert "Nothing is chosen: no point keeps every gate; recall_any@1 " in worse
    assert "turns away 3 of 3" in worse


def hook(id: str) -> dict[str, Any]:
    return next(entry for entry in read(ROOT / ".pre-commit-hooks.yaml") if entry["id"] == id)


def test_hooks_have_what_pre_commit_asks_for() -> None:
    hooks = read(ROOT / ".pre-commit-hooks.yaml")
    assert [hook["id"] for hook in hooks] == ["recallbench-gate", "recallbench-cite"]
    for entry in hooks:
        assert {"id", "name", "entry", "language"} <= entry.keys()
        assert entry["language"] == "system"
    files = re.compile(hook("recallbench-gate")["files"])
    assert [bool(files.search(name)) for name in ("recallbench.toml", "r/a/metrics.json", "metrics.jsonl", "a.md")] == [
        True, True, False, False,
    ]  # fmt: skip


@pytest.mark.marked
def test_the_gate_hook(checkout: Path) -> None:
    entry = hook("recallbench-gate")["entry"]
    assert shell(entry, checkout).returncode == 3  # nothing was measured yet
    assert shell(scripts(WORKFLOWS[0])["Measure"], checkout).returncode == 0
    assert shell("recallbench gate --update", checkout).returncode == 0
    assert shell(entry, checkout).returncode == 0


def test_the_cite_hook_looks_at_every_file(tmp_path: Path) -> None:
    entry = hook("recallbench-cite")["entry"]
    (tmp_path / "plain.md").write_text("# Nothing measured here\n")
    (tmp_path / "with space.md").write_text("Our `recall_any@10` is 0.99.\n")
    done = shell(f"{entry} plain.md", tmp_path)
    assert (done.returncode, done.stdout) == (0, "\nplain.md: no figure of a measure; so nothing was checked\n")
    for files in ("plain.md 'with space.md'", "'with space.md' plain.md"):
        done = shell(f"{entry} {files}", tmp_path)
        assert (done.returncode, "with space.md:1: no folder named: " in done.stdout) == (1, True)
        assert "2 files: 1 figure: 1 no folder named" in done.stdout
    exclude = re.compile(hook("recallbench-cite")["exclude"])
    assert [bool(exclude.search(name)) for name in ("benchmarks/locomo/results/r/report.md", "docs/a.md")] == [
        True,
        False,
    ]


GUIDE = (ROOT / "docs" / "ci-gate.md").read_text("utf-8")


def block(first: str) -> str:
    """The fenced block of the guide that starts with that line."""
    (body,) = re.findall(rf"^```\w+\n({re.escape(first)}\n.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    return str(body)


def test_the_gate_of_the_guide(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")
    (tmp_path / "recallbench.toml").write_text(block("# full.toml, for: recallbench gate --config full.toml"))
    assert recallbench("gate", "--update", cwd=tmp_path).returncode == 0
    done = recallbench("gate", "--format", "json", cwd=tmp_path)
    assert done.returncode == 0
    thresholds = json.loads(done.stdout)["thresholds"]
    assert {threshold["what"] for threshold in thresholds} == {"at_least", "drops", "p95_ms", "p95_ratio"}
    assert {threshold["outcome"] for threshold in thresholds} == {"holds"}
    assert sum(threshold["part"].startswith("kind ") for threshold in thresholds) == 5


@pytest.mark.marked
def test_the_test_of_the_guide(tmp_path: Path) -> None:
    (tmp_path / "test_memory.py").write_text(block("# test_memory.py"))
    for words, code in (((), 1), (("--recallbench-update",), 0), ((), 0)):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", *words]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
    # A memory that finds nothing fails it, by the comparison alone too.
    text = (tmp_path / "test_memory.py").read_text()
    text = text.replace('return ["d7", "d2", "d9"][:k]', "return []")
    for program, message in (
        (text, "0.7 required"),
        (text.replace("    report.check(recall=0.7)\n", ""), "below the baseline:"),
    ):
        (tmp_path / "test_memory.py").write_text(program)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist"]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False
        )
        assert (done.returncode, message in done.stdout) == (1, True), done.stdout + done.stderr
