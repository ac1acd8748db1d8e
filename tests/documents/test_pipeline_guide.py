"""The commands of the guide on pipelines give its tables, as far as they need no model behind an endpoint."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from commandline import recallbench
from documents.markdown import ROOT, blocks, section
from recallbench.retrieval.pipeline.pipeline import Pipeline

GUIDE = (ROOT / "docs" / "pipelines.md").read_text("utf-8")
VARYING = ("p95 ms", "build s", "added p50 ms", "added p95 ms")
"""Columns of the day and of the machine."""


def commands(title: str) -> list[list[str]]:
    """The commands of a section, without the word recallbench."""
    shells = [block.body for block in blocks(section(GUIDE, title)) if block.language == "sh"]
    lines = [line for body in shells for line in body.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("recallbench ")]


def tables(text: str) -> list[list[list[str]]]:
    """The rows of each table, without what varies."""
    found = []
    for table in re.findall(r"^(?:\|.*\n)+", text + "\n", re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
        kept = [i for i, name in enumerate(rows[0]) if name not in VARYING]
        found.append([[row[i] for i in kept] for row in rows])
    return found


@pytest.mark.marked
@pytest.mark.real_data
def test_the_commands_give_the_tables(tmp_path: Path, locomo_vectors: dict[str, str]) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    shown = []
    for title in ("## A file, a run, a table", "## Five ways to search, on all questions"):
        for words in commands(title):
            done = recallbench(*words, cwd=tmp_path, env=locomo_vectors)
            assert done.returncode == 0
            if "markdown" in words:
                shown += tables(done.stdout)
    told = tables(section(GUIDE, "## Five ways to search, on all questions"))
    assert len(told) >= 3
    assert [table for table in told if table not in shown] == []


def test_the_first_pipeline_is_the_file() -> None:
    (block,) = [block.body for block in blocks(section(GUIDE, "## A file, a run, a table")) if block.language == "toml"]
    shipped = Pipeline.read(ROOT / "examples/pipelines/hybrid-rrf.toml")
    assert Pipeline.of(tomllib.loads(block)["stage"]).sha256 == shipped.sha256
