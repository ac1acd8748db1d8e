"""The page that compares stores: its commands give its tables, and its sentences stand on what the tables have."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from string import Template

import pytest

from bolt import LONG_LIVED, bolt_server
from commandline import recallbench
from documents.markdown import ROOT, blocks, section

PAGE = (ROOT / "docs" / "figures.md").read_text("utf-8")
GRAPH = (ROOT / "benchmarks" / "locomo" / "STORES.md").read_text("utf-8")
VARYING = ("name", "p95 ms", "build s", "callable.search")
"""Columns of the day and of the machine, and one that is there only where two systems state it."""
VECTORS_ALONE = (
    "exact",
    "python:examples.chroma_memory:open_memory",
    "python:examples.lance_memory:open_memory",
    "python:examples.usearch_memory:Memory",
)
SLOW = VECTORS_ALONE[1:3]
"""Those that the page holds to `exact`, and the tests of the examples too: not asked again."""
CORPORA = ("LoCoMo", "REALTALK, by session", "REALTALK, by turn", "BEAM-100K", "RealMem")


def commands(title: str) -> list[list[str]]:
    """The commands of a section, without the word recallbench and with the page's variables in their places."""
    shells = "".join(block.body for block in blocks(PAGE) if block.language == "sh").replace("\\\n", " ")
    variables = dict(re.findall(r'^(\w+)="(.*)"$', shells, re.M))
    own = [block.body for block in blocks(section(PAGE, f"## {title}")) if block.language == "sh"]
    lines = [Template(line).substitute(variables) for body in own for line in body.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("recallbench ")]


def rows_of(text: str) -> Iterator[list[dict[str, str]]]:
    """Yield each table, without what varies."""
    for table in re.findall(r"^(?:\|.*\n)+", text + "\n", re.M):
        names, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
        kept = [dict(zip(names, row, strict=True)) for row in rows]
        controls = [row | {"store": row["name"]} if not row.get("store", "–") else row for row in kept]
        yield [{name: cell for name, cell in row.items() if name not in VARYING} for row in controls]


def test_sentences_stand_on_figures_of_the_tables() -> None:
    told = {
        (corpus, row["encoder"] if row["encoder"] != "no embedder" else "", row["store"]): row
        for corpus in CORPORA
        for table in rows_of(section(PAGE, f"## {corpus}"))
        for row in table
        if row.get("encoder")
    }
    (tests,) = [table for table in rows_of(PAGE) if "p (Holm)" in table[0]]
    assert {row["sentence"] for row in tests} == {"1", "2", "3", "4", "5"}
    for row in tests:
        first, second = (tuple(re.findall(r"`(.+?)`", row[side])) for side in ("from", "to"))
        for side, (store, *encoder) in (("A", first), ("B", second)):
            assert told[row["corpus"], "".join(encoder), store][row["measure"].strip("`")] == row[side], row
        assert float(row["B"]) - float(row["A"]) == pytest.approx(float(row["difference"]), abs=1.01e-4)
        low, high = map(float, row["95% interval"].replace("–", "0 to 0").split(" to "))
        assert low <= float(row["difference"]) <= high
        assert float(row["p (Holm)"]) > 0.05 or not low <= 0 <= high, row


def test_vectors_alone_are_found_alike_by_every_index_at_hand() -> None:
    for corpus in CORPORA:
        for table in rows_of(section(PAGE, f"## {corpus}")):
            alone = [row for row in table if row.get("store") in VECTORS_ALONE]
            assert len({(row["recall_any@10"], row["95% interval"], row["group"]) for row in alone}) == 1, corpus
            assert {row["store"] for row in alone} == {*VECTORS_ALONE}, corpus


@pytest.mark.marked
@pytest.mark.real_data
def test_the_commands_give_a_table_and_a_page_for_each_store(tmp_path: Path, locomo_vectors: dict[str, str]) -> None:
    for package in ("lancedb", "tantivy", "usearch"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install 'recallbench[examples]'")
    env = locomo_vectors | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    texts, minilm, *_ = commands("LoCoMo")
    for store in SLOW:
        place = minilm.index(store)
        del minilm[place - 1 : place + 1]
    (ranker,) = re.findall(r"^recallbench (run locomo .*--graph-ranker importance)", GRAPH, re.M)
    (tmp_path / "bolt").mkdir()
    with bolt_server(tmp_path / "bolt", LONG_LIVED) as server:
        for words in (texts, minilm, [*ranker.split(), "--folder", "importance"]):
            assert recallbench(*words, "--quiet", cwd=tmp_path, env=env | server).returncode == 0
    results = sorted(tmp_path.glob("figures/locomo/*/*"))
    assert len(results) == 7
    assert all((result / "report.html").is_file() for result in results)
    (shown,) = rows_of(recallbench("table", *results, "--format", "markdown", cwd=tmp_path, env=env).stdout)
    first, *_ = rows_of(section(PAGE, "## LoCoMo"))
    assert len(first) == 12
    assert sorted(map(str, shown)) == sorted(str(row) for row in first if row["store"] not in SLOW)
    # What the page on rankers of the graph says of LoCoMo.
    estimates = json.loads((tmp_path / "importance" / "metrics.json").read_text())["estimates"]["overall"]
    importance = {estimate["measure"]: f"{estimate['value']:.4f}" for estimate in estimates}
    (neighbours,) = [row for row in shown if row["store"] == "graph"]
    (table,) = rows_of(GRAPH)
    for row, measure in zip(table[:2], ("recall_any@10", "mrr@50"), strict=True):
        assert (row["importance"], row["neighbours"]) == (importance[measure], neighbours[measure])
