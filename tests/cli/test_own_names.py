"""Documents, questions and sets go by their own names in all that people read; written formats keep their ids."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.results.manifest import build

MEMORY = """
class Backwards:
    def __init__(self):
        self.ids = []

    def add(self, id, text):
        self.ids.insert(0, id)

    def search(self, query, k):
        return self.ids[:k] if "bakery" not in query else []
"""
DOCUMENTS = [
    {"_id": "kb-1", "text": "The ferry leaves at nine.", "scope": "trips"},
    {"_id": "kb-2", "text": "It rains in Bergen.", "scope": "trips"},
    {"_id": "kb-35", "text": "The shop opens at eight.", "scope": "town"},
    {"_id": "=kb-36", "text": "The bakery closes at two.", "scope": "town"},
]
QUERIES = [
    {"query": "When does the ferry leave?", "relevant": ["kb-1"], "scope": "trips"},
    {"query": "When does the shop open?", "relevant": ["kb-35"], "scope": "town", "_id": "shop-hours"},
    {"query": "When does the bakery close?", "relevant": ["=kb-36"], "scope": "town", "id": "bakery-hours"},
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the set `kb`, a result of BM25 and one of a store that answers otherwise."""
    place = tmp_path_factory.mktemp("names")
    (place / "my_memory.py").write_text(MEMORY)
    (place / "kb").mkdir()
    for name, records in (("corpus", DOCUMENTS), ("gold", QUERIES)):
        (place / "kb" / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert recallbench("evaluate", "kb", "--store", "bm25", "--folder", "words", cwd=place).returncode == 0
    return place


@pytest.fixture(scope="module")
def printed(workspace: Path) -> str:
    words = ("--store", "python:my_memory:Backwards", "--folder", "backwards", "--k", "1", "--compare", "words", "-q")
    done = recallbench("evaluate", "kb", *words, cwd=workspace)
    assert done.returncode == 0
    return done.stdout


def test_what_evaluate_prints_has_the_names_of_the_set(printed: str) -> None:
    named = printed[printed.index("these drag the mean down: ") :].splitlines()[0]
    assert "bakery-hours (first gold not found, 0 of 1" in named
    assert "When does the ferry leave? (first gold at 2" in named
    rows = [line.split("  ")[0] for line in printed.splitlines() if line.endswith(("0.00", "1.00"))]
    assert rows == ["When does the ferry leave?", "shop-hours", "bakery-hours", "MEAN"]
    assert printed.startswith("kb, python:my_memory:Backwards, ")
    assert "deviation" not in printed
    assert "labelled/kb@" not in printed
    assert "question: When does the ferry leave?" in printed
    assert "kb-1 *" in printed


@pytest.mark.usefixtures("printed")
def test_comparisons_and_pages_name_documents_as_the_set_does(workspace: Path) -> None:
    compare = ("compare", "words", "backwards", "--allow", "store")
    text, markdown = (recallbench(*compare, *more, cwd=workspace).stdout for more in ((), ("--markdown",)))
    for shown in (text, markdown):
        assert "kb-35" in shown
        assert "=kb-36" in shown
        assert "town/" not in shown
        assert "labelled/kb@" not in shown
    (changed, *_) = json.loads(recallbench(*compare, "--json", cwd=workspace).stdout)["changed"]
    assert changed["gold"] == ["=kb-36"]
    assert [hit["id"] for hit in changed["first"]] == ["=kb-36", "kb-35"]
    page = (workspace / "backwards" / "report.html").read_text()
    assert "<td>=kb-36</td><td>nothing</td>" in page
    for name in ("report.html", "report.md"):
        assert "labelled/kb@" not in (workspace / "backwards" / name).read_text()


@pytest.mark.usefixtures("printed")
def test_written_formats_keep_their_ids_and_an_audit_holds(workspace: Path) -> None:
    folder = workspace / "backwards"
    assert (folder / "run.trec").read_text().splitlines()[:2] == [
        "q1 Q0 trips/1 1 49 recallbench-python:my_memory:Backwards",
        "q1 Q0 trips/0 2 48 recallbench-python:my_memory:Backwards",
    ]
    assert json.loads((folder / "raw_retrievals.jsonl").read_text().splitlines()[0])["gold"] == ["trips/0"]
    rows = map(json.loads, (folder / "raw_retrievals.jsonl").read_text().splitlines())
    assert [row["question_id"] for row in rows] == ["q1", "shop-hours", "bakery-hours"]
    name = json.loads((folder / "metrics.json").read_text())["corpus"]["name"]
    assert name.startswith("labelled/kb@")
    audited = recallbench("audit", "backwards", "--failures", "--verdict", "--corpus-file", "kb", cwd=workspace).stdout
    assert "  fail" not in audited
    assert "deviation   corpus: kb is no registered corpus" in audited


@pytest.mark.usefixtures("printed")
def test_a_run_may_have_the_names_or_the_ids(workspace: Path) -> None:
    form = "q1 Q0 {} 1 2 me\nshop-hours Q0 {} 1 2 me\nbakery-hours Q0 {} 1 2 me\n"
    (workspace / "ids.trec").write_text(form.format("trips/0", "town/0", "town/1"))
    (workspace / "names.trec").write_text(form.format("kb-1", "kb-35", "=kb-36"))
    done = recallbench("table", "backwards", "ids.trec", "names.trec", "--format", "csv", cwd=workspace)
    rows = {row.split(",")[0]: row for row in done.stdout.splitlines()}
    assert rows["ids.trec"].split(",")[1] == "1"
    assert rows["ids.trec"].partition(",")[2] == rows["names.trec"].partition(",")[2]


@pytest.mark.usefixtures("printed")
def test_a_result_in_which_an_id_was_passed_over_is_audited_as_ever(workspace: Path) -> None:
    shutil.copytree(workspace / "backwards", workspace / "earlier")
    for path in (workspace / "earlier").iterdir():
        path.write_text(path.read_text().replace("bakery-hours", "q3"))
    (workspace / "earlier" / "manifest.json").write_text(build(workspace / "earlier"))
    audited = recallbench("audit", "earlier", "--failures", "--corpus-file", "kb", cwd=workspace).stdout
    assert ": holds, not committed\n" in audited
