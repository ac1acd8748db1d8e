"""Figures of the documents are those of the commands beside them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from commandline import recallbench
from documents.markdown import GUIDES, HISTORY, ROOT, blocks, section
from recallbench.protocol.deviations import Deviation
from recallbench.protocol.history import unrecorded


class Line(NamedTuple):
    """A row of a table of figures."""

    name: str
    link: str
    cells: list[str]


FIGURES = ("LoCoMo", "LongMemEval", "The canary")
PAGE = GUIDES["first-figures"]
COLUMNS = "| system | `recall_any@10` | 95% interval | `recall_frac@10` | `recall_all@10` | `mrr@50` | 95% interval |"


def figures(title: str) -> list[Line]:
    lines = []
    table = section(PAGE, f"## {title}").split(COLUMNS)[1].split("\n\n")[0]
    for row in table.splitlines()[2:]:
        first, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        match = re.fullmatch(r"\[(.+)\]\((.+)\)", first)
        lines.append(Line(match[1] if match else first, match[2] if match else "", cells))
    return lines


def commands_of(title: str) -> dict[str, list[str]]:
    """The command of each row, by the name in its comment."""
    (block,) = [block for block in blocks(section(PAGE, f"## {title}")) if block.language == "sh"]
    split = [line.rsplit("# ", 1) for line in block.body.splitlines()]
    return {name: shlex.split(command)[1:] for command, name in split}


def row_of(estimates: list[dict[str, Any]], what: str = "value") -> list[str]:
    """The cells that these estimates make."""
    by_name = {estimate["measure"]: estimate for estimate in estimates}

    def cell(name: str) -> str:
        return f"{by_name[name][what]:.4f}"

    def interval(name: str) -> str:
        estimate = by_name[name]
        return f"{estimate['low']:.4f} to {estimate['high']:.4f}" if what == "value" else "–"

    first, last = "recall_any@10", "mrr@50"
    return [cell(first), interval(first), cell("recall_frac@10"), cell("recall_all@10"), cell(last), interval(last)]


def expected(name: str, metrics: dict[str, Any]) -> list[str]:
    """The row of that name beside the system whose metrics these are."""
    if name == "*BM25 control*":
        cells = row_of(metrics["control_bm25"]["overall"])
        return [*cells[:1], "–", *cells[2:5], "–"]
    what = {"*chance*": "chance", "*oracle*": "ceiling"}.get(name, "value")
    return row_of(metrics["estimates"]["overall"], what)


def test_every_system_of_a_table_has_its_command() -> None:
    for title in FIGURES:
        systems = [line.name for line in figures(title) if not line.name.startswith("*")]
        assert systems == list(commands_of(title))


def points(cells: Sequence[str]) -> list[str]:
    """Return the cells without intervals, which depend on the edition of the result."""
    return [cell for cell in cells if " to " not in cell]


def test_figures_of_the_committed_result_are_those_of_its_files() -> None:
    linked = [line for title in FIGURES for line in figures(title) if line.link]
    assert linked, "the page links no committed result"
    for line in linked:
        folder = (ROOT / "docs" / line.link).parent
        metrics = json.loads((folder / "metrics.json").read_text())
        assert line.cells == expected(line.name, metrics)
        assert metrics["corpus"]["name"] == "locomo"
        beside = {figure.name: figure.cells for figure in figures("LoCoMo")}
        for name in ("*chance*", "*oracle*"):
            assert beside[name] == expected(name, metrics)
        assert points(beside["bm25"]) == points(row_of(metrics["control_bm25"]["overall"]))
        seen = metrics["exposure"]
        text = " ".join(section(PAGE, "## LoCoMo").split())
        assert f"{seen['truncated_share']:.0%} of its sessions" in text
        assert f"{seen['gold_turns_cut_share']:.0%} of the labelled evidence" in text


def tells_retrievers_apart(canaries: Iterable[dict[str, Any]]) -> None:
    """MiniLM finds far more of a canary than chance would, and far from all; some texts are too long for it."""
    for metrics in canaries:
        values = {estimate["measure"]: estimate["value"] for estimate in metrics["estimates"]["overall"]}
        assert 0.70 < values["recall_any@10"] < 0.95
        assert 0.38 < values["mrr@50"] < 0.75
        assert metrics["exposure"]["truncated"] >= 10


@pytest.mark.marked
@pytest.mark.real_data
@pytest.mark.parametrize("title", FIGURES)
def test_the_commands_beside_the_tables_give_the_tables(
    title: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    env = {"RECALLBENCH_QUIET": "1"}
    made: dict[tuple[str, ...], Path] = {}
    if title == "LongMemEval":
        made = dict([request.getfixturevalue("longmemeval_bm25")])
    else:
        env |= request.getfixturevalue("locomo_vectors")
        # The run that made the vectors was this one.
        words = ("run", "locomo", "--embedder", "minilm", "--store", "exact")
        made = {words: Path(env["RECALLBENCH_CACHE_DIR"]).with_name("exact")}
    by_name: dict[str, Any] = {}
    metrics: dict[str, Any] = {}
    for i, (name, words) in enumerate(commands_of(title).items()):
        folder = made.get(tuple(words), tmp_path / f"r{i}")
        if not folder.exists():
            assert recallbench(*words, "--folder", folder.name, cwd=tmp_path, env=env).returncode == 0
        by_name[name] = json.loads((folder / "metrics.json").read_text())
    if title == "The canary":
        tells_retrievers_apart(by_name.values())
    label = section(PAGE, f"## {title}").split("Label: `")[1]
    for line in figures(title):
        metrics = by_name.get(line.name, metrics)
        shown = points if line.link else list
        assert shown(line.cells) == shown(expected(line.name, metrics)), line.name
        assert metrics["verdict"]["text"] == label.split("`")[0]
        assert not metrics["verdict"]["canonical"]
        deviations = [Deviation(deviation["kind"], deviation["detail"]) for deviation in metrics["deviations"]]
        assert all(deviation.kind in label.split("deviations:")[1].split(".")[0] for deviation in deviations)
        # Every deviation of a published figure is on record.
        assert unrecorded(deviations, HISTORY, metrics["corpus"]["name"]) == ()
