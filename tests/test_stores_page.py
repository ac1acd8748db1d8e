"""The commands of the page about other memories give its tables."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
from pathlib import Path

import pytest

from bolt import bolt_server
from commandline import recallbench

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "benchmarks" / "locomo" / "STORES.md").read_text("utf-8")
BLOCKS = [block.replace("\\\n", " ") for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)]
MEASURE, SHOW = BLOCKS[0].strip().splitlines()
GRAPH = {
    name: shlex.split(command)[1:]
    for command, name in re.findall(r"^(recallbench run locomo .*?) +# (.+)$", BLOCKS[1], re.M)
}
VARYING = ("name", "p95 ms")
"""Columns of the day and of the machine."""


def table_of(text: str) -> list[list[str]]:
    """The rows of the first table, without what varies."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    end = next((i for i, row in enumerate(rows) if row[0] == "chance"), len(rows))
    kept = [i for i, name in enumerate(rows[0]) if name not in VARYING]
    return [[row[i] for i in kept] for row in rows[: end + 1]]


@pytest.mark.marked
@pytest.mark.real_data
def test_two_commands_make_the_table_and_a_page_for_each(tmp_path: Path, locomo_vectors: dict[str, str]) -> None:
    for package in ("chromadb", "lancedb"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install 'recallbench[examples]'")
    env = locomo_vectors | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = recallbench(*shlex.split(MEASURE)[1:], "--quiet", cwd=tmp_path, env=env)
    assert done.returncode == 0
    results = sorted(tmp_path.glob("stores/*"))
    assert len(results) == 7
    assert all((result / "report.html").is_file() for result in results)
    assert SHOW == "recallbench table stores/* --format markdown"
    shown = recallbench("table", *results, "--format", "markdown", cwd=tmp_path, env=env).stdout
    assert len(table_of(PAGE)) == 12
    assert table_of(shown) == table_of(PAGE)


@pytest.mark.marked
@pytest.mark.real_data
@pytest.mark.parametrize("ranker", ["neighbours", "importance"])
def test_a_ranker_of_the_graph_has_the_figures_of_the_page(
    tmp_path: Path, locomo_vectors: dict[str, str], ranker: str
) -> None:
    (tmp_path / "bolt").mkdir()
    with bolt_server(tmp_path / "bolt") as server:
        words = (*GRAPH[ranker], "--folder", "made", "--quiet")
        assert recallbench(*words, cwd=tmp_path, env=locomo_vectors | server).returncode == 0
    estimates = json.loads((tmp_path / "made" / "metrics.json").read_text())["estimates"]["overall"]
    by_name = {estimate["measure"]: f"{estimate['value']:.4f}" for estimate in estimates}
    column = 2 if ranker == "importance" else 3
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines()]
    place = next(i for i, row in enumerate(rows) if row[0] == "LoCoMo, 1982 questions")
    first, last = rows[place : place + 2]
    assert (first[column], last[column]) == (by_name["recall_any@10"], by_name["mrr@50"])
