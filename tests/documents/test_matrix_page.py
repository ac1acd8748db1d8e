"""The page on encoders has the tables of the matrices that are kept beside it, and concludes from nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commandline import recallbench
from documents.markdown import ROOT, section

PAGE = (ROOT / "docs" / "matrix.md").read_text("utf-8")
KEPT = sorted(path.parent for path in (ROOT / "docs" / "matrix").glob("*/matrix.json"))


@pytest.mark.parametrize("folder", KEPT, ids=lambda folder: folder.name)
def test_tables_are_those_of_the_matrix(folder: Path) -> None:
    shown = recallbench("matrix", "--show", folder, "--format", "markdown", cwd=ROOT)
    assert shown.returncode == 0
    tables = [line for line in shown.stdout.splitlines() if line.startswith("|")]
    assert len(tables) > 10
    assert set(tables) <= set(PAGE.splitlines())
    assert f"(matrix/{folder.name}/matrix.svg)" in PAGE


def test_each_figure_of_the_conclusions_stands_in_a_table() -> None:
    concluded = re.findall(r"[+-]?\d*\.\d{3,}", section(PAGE, "## What to take from it"))
    assert len(concluded) > 5
    cells = {
        cell for line in PAGE.splitlines() if line.startswith("|") for cell in re.findall(r"[+-]?\d*\.\d{3,}", line)
    }
    assert {figure for figure in concluded if figure not in cells} == set()
