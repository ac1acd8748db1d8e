"""`recallbench label`: labels by keyboard, each saved at once."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commandline import environment, recallbench
from labelled_sets import DOCUMENTS, jsonl


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "team").mkdir()
    jsonl(tmp_path / "team" / "corpus.jsonl", [{**document, "tenant": "north"} for document in DOCUMENTS[:4]])
    rows = [
        {"_id": "ferry", "text": "When does the ferry leave?", "tenant": "north", "kind": "travel"},
        {"_id": "rain", "text": "Where does it rain?", "tenant": "north"},
        {"_id": "zebra", "text": "Who saw the zebra?", "tenant": "north"},
    ]
    jsonl(tmp_path / "team" / "queries.jsonl", rows)
    return tmp_path


def typed(folder: Path, keys: str, *words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "recallbench", "label", "team", "-q", *words],
        input="".join(f"{key}\n" for key in keys),
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done


def labels(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "team" / "gold.jsonl").read_text().splitlines()]


def test_keys_become_labels_and_a_set_that_evaluates(folder: Path) -> None:
    done = typed(folder, "y2a" + "?mya" + "ay", "--k", "3")
    assert done.returncode == 0
    assert "3 queries labelled in team/gold.jsonl, 3 in all" in done.stdout
    ferry, rain, zebra = labels(folder)
    assert ferry["query"] == "When does the ferry leave?"
    assert ferry["kind"] == "travel"
    assert sorted(ferry["relevant"].values()) == [1.0, 2.0]
    assert rain["relevant"] == ["bergen"]
    assert (zebra["relevant"], zebra["kind"], zebra["tenant"]) == ([], "abstention", "north")
    assert recallbench("evaluate", "team", "--store", "bm25", "-q", cwd=folder).returncode == 0


def test_labelling_resumes_where_it_stopped(folder: Path) -> None:
    assert typed(folder, "ya" + "q").returncode == 0
    assert [row["query_id"] for row in labels(folder)] == ["ferry"]
    again = typed(folder, "s" + "an")
    assert "1 of 3 queries are labelled" in again.stderr
    assert "[2 of 3] Where does it rain?" in again.stdout
    # The skipped query and the query without a relevant document are both left for later.
    assert [row["query_id"] for row in labels(folder)] == ["ferry"]


def test_the_end_of_the_input_loses_nothing(folder: Path) -> None:
    assert typed(folder, "ya" + "y").returncode == 0
    assert [row["query_id"] for row in labels(folder)] == ["ferry"]


def test_a_line_that_was_cut_off_is_set_aside_and_its_query_comes_again(folder: Path) -> None:
    typed(folder, "ya" + "q")
    gold = folder / "team" / "gold.jsonl"
    gold.write_text(gold.read_text() + '{"query_id": "rain", "que')
    done = typed(folder, "ya" + "q")
    assert "[2 of 3] Where does it rain?" in done.stdout
    assert "the last line of team/gold.jsonl was cut off: set aside in team/gold.jsonl.cut" in done.stderr
    assert "cut off" not in typed(folder, "q").stderr
    assert [row["query_id"] for row in labels(folder)] == ["ferry", "rain"]
    assert (folder / "team" / "gold.jsonl.cut").read_text() == '{"query_id": "rain", "que\n'


def test_an_unreadable_line_is_refused(folder: Path) -> None:
    (folder / "team" / "gold.jsonl").write_text("nonsense\n")
    done = typed(folder, "")
    assert done.returncode == 2
    assert "gold.jsonl, line 1: can't be read" in done.stderr


def test_queries_come_from_a_text_file_or_the_command_line(folder: Path) -> None:
    jsonl(folder / "team" / "corpus.jsonl", [{"_id": "a", "text": "The ferry leaves."}])
    (folder / "list.txt").write_text("When?\n\nWhere is the ferry?\n")
    typed(folder, "y" + "y", "--queries", "list.txt")
    assert [(row["query_id"], row["query"]) for row in labels(folder)] == [
        ("q1", "When?"),
        ("q3", "Where is the ferry?"),
    ]
    typed(folder, "y", "--query", "What leaves?")
    assert labels(folder)[-1]["query"] == "What leaves?"
    assert len({row["query_id"] for row in labels(folder)}) == 3


def test_queries_that_wait_are_in_the_command_that_goes_on(folder: Path) -> None:
    jsonl(folder / "team" / "corpus.jsonl", [{"_id": "a", "text": "The ferry leaves."}])
    done = typed(folder, "yq", "--query", "What leaves?", "--query", "Is it a cat?", "--store", "bm25")
    assert done.stdout.splitlines()[-1] == (
        "1 query labelled in team/gold.jsonl, 1 in all; 1 waits; next: recallbench label team -q "
        "--query 'Is it a cat?' --store bm25 goes on"
    )
    done = typed(folder, "q", "--proposals", "3", "--query=A bird?", "--format", "text", "--query", "A cat?")
    assert (
        "; next: recallbench label team -q --proposals 3 --query 'A bird?' --query 'A cat?' goes on"
        in done.stdout.splitlines()[-1]
    )
    (folder / "my list.txt").write_text("When?\nWhere?\n")
    done = typed(folder, "q", "--queries", "my list.txt")
    assert done.stdout.splitlines()[-1].endswith(
        "1 waits; next: recallbench label team -q --queries 'my list.txt' goes on"
    )


def test_a_scope_without_documents_and_a_folder_without_any(folder: Path) -> None:
    (folder / "team" / "queries.jsonl").write_text('{"_id": "a", "text": "b", "scope": "west"}\n')
    assert "no document is in scope west" in typed(folder, "").stderr
    (folder / "team" / "corpus.jsonl").unlink()
    done = typed(folder, "")
    assert done.returncode == 2
    assert "corpus.jsonl is missing" in done.stderr


def test_queries_without_a_scope_need_the_option(folder: Path) -> None:
    assert "--scope north" in typed(folder, "", "--query", "Where does it rain?").stderr
    typed(folder, "ya", "--query", "Where does it rain?", "--scope", "north")
    assert labels(folder)[0]["scope"] == "north"
