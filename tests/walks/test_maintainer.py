"""The walk of a library's maintainer: a class of theirs on LoCoMo, beside BM25 and pgvector, by the README's words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documents.markdown import README, ROOT, blocks, section
from recallbench.results.result import open_unchanged
from walks.walker import Walker, last_line, named

PICTURE = ROOT / "docs" / "pictures" / "locomo.svg"
SMALL = {"locomo": "canary-locomo"}


def test_their_class_is_measured_beside_others_and_drawn(tmp_path: Path) -> None:
    walker = Walker(tmp_path)
    mine, bm25, pgvector, table, compare = walker.reads("My memory")
    assert walker.types(mine, SMALL).returncode == 0
    assert walker.types(bm25, SMALL).returncode == 0
    assert walker.types(pgvector, SMALL | {"minilm": "hash"}).returncode == 0
    shown = walker.types(table)
    rows = {line.split()[0]: line.split() for line in shown.stdout.splitlines() if line}
    assert {"mine", "bm25", "pgvector", "ceiling", "BM25", "chance"} <= set(rows)
    assert rows["mine"][1] == "0.7722"
    assert (tmp_path / "locomo.svg").read_text().count("<circle") >= 3
    compared = walker.types(compare)
    assert compared.returncode == 0
    assert "; next: " in last_line(compared)


@pytest.mark.marked
@pytest.mark.real_data
def test_picture_and_output_of_the_readme_are_those_of_its_commands(
    tmp_path: Path, locomo_vectors: dict[str, str]
) -> None:
    walker = Walker(tmp_path, locomo_vectors)
    lines = walker.reads("My memory")
    printed = ""
    for line in lines:
        done = walker.types(line)
        assert done.returncode == 0, line
        printed += done.stdout
    assert (tmp_path / "locomo.svg").read_bytes() == PICTURE.read_bytes()
    shown_there = section(README, "## What the quick starts show")
    sample = [line for block in blocks(shown_there) if block.language == "text" for line in block.body.splitlines()]
    assert [shown for shown in sample if shown.removesuffix(" …") not in printed] == []


def test_the_picture_has_the_figures_of_the_committed_result() -> None:
    (said,) = re.findall(r'<desc id="plot-said">(.*?)</desc>', PICTURE.read_text("utf-8"))
    (link,) = re.findall(r"\[LoCoMo\]\((benchmarks/locomo/results/\w+)/report.md\)", README)
    committed = open_unchanged(ROOT / link)
    (estimate,) = [each for each in committed.metrics.estimates["overall"] if str(each.measure) == "recall_any@10"]
    (control,) = [each for each in committed.metrics.control_bm25["overall"] if str(each.measure) == "recall_any@10"]
    assert f"; pgvector {estimate.value:.4f} (" in f"; {said.partition(': ')[2]}"
    assert f"bm25 {control.value:.4f} (" in said
    assert f"chance {estimate.chance:.4f}" in said
    assert f"]({PICTURE.relative_to(ROOT)})" in README


def test_the_picture_is_drawn_by_the_command_beside_it(tmp_path: Path) -> None:
    table = named(Walker(tmp_path).reads("My memory"), "table")
    assert table.command.endswith(f"--plot {PICTURE.name}")
