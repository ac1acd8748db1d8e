"""`recallbench label`: labels by keyboard, each saved at once."""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
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


def typed(folder: Path, keys: Iterable[str], *words: str) -> subprocess.CompletedProcess[str]:
    return recallbench("label", "team", "-q", *words, cwd=folder, typed="".join(f"{key}\n" for key in keys))


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
    typed(folder, "y", "--query", "What leaves?")
    asked = ["When?", "Where is the ferry?", "What leaves?"]
    assert [row["query"] for row in labels(folder)] == asked
    # None has an id of its own, so each is called by its words.
    measured = recallbench("evaluate", "team", "--store", "bm25", "-q", "--k", "1", "--format", "csv", cwd=folder)
    assert all(text in measured.stdout for text in asked)


def test_questions_that_were_labelled_are_known_by_their_words_and_not_by_their_line(folder: Path) -> None:
    jsonl(folder / "team" / "corpus.jsonl", [{"_id": "a", "text": "The ferry leaves."}])
    hand = [{"query": "When does it leave?", "relevant": ["a"]}, {"query": "What leaves?", "relevant": ["a"]}]
    jsonl(folder / "team" / "gold.jsonl", hand)
    (folder / "list.txt").write_text("Where is the ferry?\nWhat  leaves?\nWhich ferry?\nWhich ferry?\n")
    done = typed(folder, "yy", "--queries", "list.txt")
    assert "1 of 3 queries are labelled" in done.stderr
    assert "2 queries labelled in team/gold.jsonl, 4 in all" in done.stdout
    assert [row["query"] for row in labels(folder)][2:] == ["Where is the ferry?", "Which ferry?"]
    assert recallbench("evaluate", "team", "--store", "bm25", "-q", cwd=folder).returncode == 0


def test_a_line_whose_name_is_taken_gets_an_id_that_nothing_has(folder: Path) -> None:
    jsonl(folder / "team" / "corpus.jsonl", [{"_id": "a", "text": "The ferry leaves."}])
    jsonl(folder / "team" / "gold.jsonl", [{"query_id": "q2", "query": "When does it leave?", "relevant": ["a"]}])
    done = typed(folder, "yy", "--query", "What leaves?", "--query", "Which ferry?", "--format", "json")
    assert json.loads(done.stdout)["labelled"] == ["q2-2", "q3"]
    assert [row.get("query_id") for row in labels(folder)] == ["q2", "q2-2", None]
    assert recallbench("evaluate", "team", "--store", "bm25", "-q", cwd=folder).returncode == 0


def test_an_id_that_is_labelled_with_other_words_is_said(folder: Path) -> None:
    gold = {"query_id": "rain", "query": "Where is the sun?", "relevant": ["oslo"], "tenant": "north"}
    jsonl(folder / "team" / "gold.jsonl", [gold])
    done = typed(folder, "q")
    assert (
        "recallbench: rain is labelled as 'Where is the sun?', so 'Where does it rain?' is not asked: give it an id of "
        "its own\n"
    ) in done.stderr
    assert "1 of 3 queries are labelled" in done.stderr


def test_labels_of_a_query_that_is_not_finished_are_saved_and_not_measured(folder: Path) -> None:
    begun = folder / "team" / "gold.jsonl.begun"
    done = typed(folder, ["y", "a", "+", "fjord", "2", "n", "q"], "--proposals", "2")
    assert done.stdout.splitlines()[-1] == (
        "1 query labelled in team/gold.jsonl, 1 in all; 2 wait, 1 of them begun, its labels saved; next: recallbench "
        "label team -q --proposals 2 goes on"
    )
    assert json.loads(begun.read_text())["grades"] == {"fjord": 2.0, "bergen": 0.0}
    assert [row["query_id"] for row in labels(folder)] == ["ferry"]
    measured = recallbench("evaluate", "team", "--store", "bm25", "-q", "--k", "1", "--format", "csv", cwd=folder)
    assert ("ferry" in measured.stdout, "rain" in measured.stdout) == (True, False)
    done = typed(folder, ["u", "q"], "--proposals", "2")
    assert "[2 of 3] Where does it rain?\n  2 of its documents are judged already; u goes back\n" in done.stdout
    assert "\n  3 of 3. " in done.stdout
    assert json.loads(begun.read_text())["grades"] == {"fjord": 2.0}
    assert "saved: 2 relevant of 3 judged" in typed(folder, ["y", "a", "q"], "--proposals", "2").stdout
    assert labels(folder)[-1]["relevant"] == {"fjord": 2.0, "bergen": 1.0}
    assert not begun.exists()


def test_labels_that_are_taken_back_out_of_the_book_are_begun_again(folder: Path) -> None:
    typed(folder, ["y", "n", "u", "q"], "--proposals", "2")
    assert labels(folder) == []
    assert json.loads((folder / "team" / "gold.jsonl.begun").read_text())["grades"] == {"oslo": 1.0}
    (folder / "team" / "gold.jsonl.begun").write_text('{"query_id": "ferry", "query": "When?", "grades": "much"}\n')
    done = typed(folder, "q")
    assert (done.returncode, "gold.jsonl.begun: line 1" in done.stderr) == (2, True)


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
        "2 wait; next: recallbench label team -q --queries 'my list.txt' goes on"
    )


def test_a_scope_without_documents_and_a_folder_without_any(folder: Path) -> None:
    (folder / "team" / "queries.jsonl").write_text('{"_id": "a", "text": "b", "scope": "west"}\n')
    assert "no document is in scope west" in typed(folder, "").stderr
    (folder / "team" / "corpus.jsonl").unlink()
    done = typed(folder, "")
    assert done.returncode == 2
    assert "team has no corpus.jsonl" in done.stderr


def test_queries_without_a_scope_need_the_option(folder: Path) -> None:
    assert "--scope north" in typed(folder, "", "--query", "Where does it rain?").stderr
    typed(folder, "ya", "--query", "Where does it rain?", "--scope", "north")
    assert labels(folder)[0]["scope"] == "north"
