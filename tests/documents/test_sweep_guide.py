"""The commands of the guide on sweeps give its tables, as far as they need neither a reranker nor a model."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from commandline import recallbench
from documents.markdown import ROOT, blocks, section

GUIDE = (ROOT / "docs" / "sweeps.md").read_text("utf-8")
STEPS = (
    "## Step 1: fix k, and sweep the search",
    "## Step 2: add MMR",
    "## Step 5: gate the change against the baseline and the limits",
)
VARYING = ("p50 ms", "p95 ms", "front", "remarks")
"""Columns of the day and of the machine; which point is chosen the last line of a sweep says."""
LAST_LINE = "(?:Take|No point) .*"
OF_TIMES = ("--sensitivity", "--repeats", "--corpus-shape")
"""Options of commands whose tables hang on times, or that take minutes."""


def commands(text: str) -> list[list[str]]:
    """The sweeps of whole LoCoMo, without the word recallbench."""
    shells = [block.body for block in blocks(text) if block.language == "sh"]
    words = [shlex.split(line)[1:] for body in shells for line in body.splitlines() if line.startswith("recallbench ")]
    return [each for each in words if each[0] == "sweep" and not set(each) & {*OF_TIMES}]


def tables(text: str) -> list[list[list[str]]]:
    """The rows of each table of points or slices, without what varies."""
    found = []
    for table in re.findall(r"^(?:\|.*\n)+", text + "\n", re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
        kept = [i for i, name in enumerate(rows[0]) if name not in VARYING]
        if rows[0][0] in ("point", "kind", "tenant") and rows[0][1] != "figure":
            found.append([[row[i] for i in kept] for row in rows])
    return found


def of_any_day(line: str, words: Sequence[str]) -> str:
    """The last line of the sweep that was typed as these words, on a quiet machine: nothing else is doubted there."""
    margin = dict(pairwise(words)).get("--margin", "0.01")
    shown = f"shown to be within {margin} of the best"
    return line.replace("the machine was busy, so don't rely on the times", shown)


@pytest.mark.marked
@pytest.mark.real_data
def test_the_commands_give_the_tables(tmp_path: Path, locomo_vectors: dict[str, str]) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    making = [sys.executable, ROOT / "benchmarks/locomo/tenants.py", "tenants"]
    subprocess.run(making, cwd=tmp_path, env={"LOCOMO_DATA_DIR": locomo_vectors["LOCOMO_DATA_DIR"]}, check=True)
    shown, taken, by_k = [], [], {}
    for words in [each for title in STEPS for each in commands(section(GUIDE, title))]:
        form = () if "markdown" in words else ("--format", "markdown")
        done = recallbench(*words, *form, cwd=tmp_path, env=locomo_vectors)
        assert done.returncode == 0, done.stderr
        shown += tables(done.stdout)
        taken += [of_any_day(line, words) for line in re.findall(rf"^\*\*({LAST_LINE})\*\*$", done.stdout, re.M)]
        if words[1].endswith("1-retrieval.toml") and words[2] == "locomo":
            (points, *_) = tables(done.stdout)
            k = points[0][5].split(",")[0].removeprefix("recall_any@")
            by_k[k] = [k, *points[3][5:9]]
    told = tables("\n".join(section(GUIDE, title) for title in STEPS))
    assert len(told) == 7
    assert [table for table in told if table not in shown] == []
    parts = [section(GUIDE, title) for title in STEPS]
    said = [line for part in parts for line in re.findall(rf"^> ({LAST_LINE})$", part, re.M)]
    assert len(said) == 4
    assert [line for line in said if line not in taken] == []
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", section(GUIDE, STEPS[0]), re.MULTILINE)
    assert [[k, *row.split(" | ")] for k, row in rows] == [by_k[k] for k in ("3", "4", "5", "10")]


@pytest.mark.marked
@pytest.mark.real_data
def test_the_choice_passes_its_gate_and_another_pipeline_does_not(
    tmp_path: Path, locomo_vectors: dict[str, str]
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    part = blocks(section(GUIDE, "### The choice in CI"))
    (settings,) = [block.body for block in part if block.language == "toml"]
    (tmp_path / "recallbench.toml").write_text(settings)
    lines = [line for block in part if block.language == "sh" for line in block.body.splitlines()]
    assert lines.pop(0) == "cp examples/pipelines/lexical.toml memory.toml"
    (tmp_path / "memory.toml").write_bytes((ROOT / "examples/pipelines/lexical.toml").read_bytes())
    for line in lines:
        done = recallbench(*shlex.split(line)[1:], cwd=tmp_path, env=locomo_vectors)
        assert done.returncode == 0, done.stderr
    told = re.findall(r"^\| memory \|.*\|$", section(GUIDE, "### The choice in CI"), re.MULTILINE)
    assert len(told) == 8
    assert [row for row in told if "p95" not in row and row not in done.stdout] == []
    other = ("--pipeline", "examples/pipelines/lexical-mmr.toml", "--embedder", "minilm", "--folder", "nights/third")
    assert recallbench("run", "locomo", *other, cwd=tmp_path, env=locomo_vectors).returncode == 0
    refused = recallbench("gate", cwd=tmp_path, env=locomo_vectors)
    assert refused.returncode == 2
    (said,) = [block.body for block in part if block.language == "text"]
    assert said.strip() in refused.stderr


def test_the_gates_of_the_guide_are_those_of_the_file() -> None:
    (words,) = [each for each in commands(section(GUIDE, STEPS[2])) if "--gate" in each]
    stated = tomllib.loads((ROOT / "examples/sweeps/5-gate.toml").read_text())["run"]["gate"]
    assert [words[i + 1] for i, word in enumerate(words) if word == "--gate"] == stated


def test_the_file_that_explains_files_is_one(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (block,) = [block for block in blocks(section(GUIDE, "## The file")) if block.language == "toml"]
    (tmp_path / "drawn.toml").write_text(block.body)
    done = recallbench("sweep", "drawn.toml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("dry run of drawn: 7 points")
