"""MemPalace's result files, through the command line: which definition their numbers follow, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_locomo import QUESTIONS, figures, refusal, surveyed, write_dataset

from commandline import recallbench

LOCOMO = "results_locomo_raw_session_top2_1.json"
MEMBENCH = "results_membench_raw_top2_1.json"
LOG = "results_mempal_raw_session_1.jsonl"
RANKED = [["session_2", "session_1"], ["session_2", "session_3"], ["session_1", "session_2"]]
RECALL = [1.0, 0.5, 1.0]


def locomo_rows() -> list[dict[str, Any]]:
    return [
        {"sample_id": "conv-1", "question": text, "answer": 7, "category": category, "evidence": evidence}
        | {"retrieved_ids": ranked, "recall": recall}
        for (text, evidence, category), ranked, recall in zip(QUESTIONS, RANKED, RECALL, strict=True)
    ]


def membench_row(tid: int, gold: list[int], numbers: list[int], places: list[int], hit: object) -> dict[str, Any]:
    labels = {"category": "simple", "topic": "roles", "tid": tid, "question": "Where?", "ground_truth": "A"}
    found = {"target_sids": gold, "retrieved_sids": numbers, "retrieved_global": places, "hit_at_k": hit}
    return {**labels, "answer_text": "here", **found}


def log_row(id: str, names: list[str], figures: dict[str, object]) -> dict[str, Any]:
    items = [{"corpus_id": name, "text": "t", "timestamp": "2023"} for name in names]
    results = {"query": "Where?", "ranked_items": items, "metrics": {"session": figures, "turn": {"recall_any@1": 0.0}}}
    return {
        "question_id": id,
        "question_type": "multi-session",
        "question": "Where?",
        "answer": "here",
        "retrieval_results": results,
    }


def folder(tmp_path: Path, name: str, rows: object) -> Path:
    path = tmp_path / "published"
    path.mkdir(exist_ok=True)
    lines = name.endswith("l") and isinstance(rows, list)
    text = "".join(json.dumps(row) + "\n" for row in rows) if lines else json.dumps(rows, indent=2)  # type: ignore[attr-defined]
    (path / name).write_text(text)
    return path


def test_recall_on_locomo_is_the_fraction_with_1_for_rows_without_evidence(tmp_path: Path) -> None:
    """(1 + .5 + 1) / 3 = .8333, printed as .833; over the two with gold any is 1, the fraction .75, all .5."""
    published = folder(tmp_path, LOCOMO, locomo_rows())
    document = surveyed(published, "--corpus-file", write_dataset(tmp_path), "--published", "0.833", "--controls")
    assert (document["layout"], document["questions"], document["depth_kept"]) == ("mempalace", 3, 2)
    assert (document["scoping"], document["gold"]) == (
        "consistent",
        "as the dataset gives it, and as the rows state it",
    )
    assert "1 rows without evidence state recall 1" in document["untold"]
    (number,) = document["published"]
    assert "recall_frac@2, bare ids, over all rows, 1 for those without gold (3)" in number["equals"]
    found = figures(document, "all rows with gold", "bare ids")
    names = ("recall_any@1", "recall_any@2", "recall_frac@2", "recall_all@2")
    assert [found[name] for name in names] == [0.5, 1.0, 0.75, 0.5]
    assert "recall_any@3" not in found or found["recall_any@3"] == 1.0
    bm25, chance = (figures(document, "the same questions", name) for name in ("BM25", "chance"))
    assert [bm25[name] for name in names] == [1.0, 1.0, 1.0, 1.0]
    assert (bm25["recall_frac@1"], chance["recall_frac@1"]) == (0.75, 0.3333)
    assert [chance[name] for name in names] == [0.5, 0.8333, 0.6667, 0.5]


def test_an_audit_names_the_definition_of_its_number(tmp_path: Path) -> None:
    published = folder(tmp_path, LOCOMO, locomo_rows())
    dataset = write_dataset(tmp_path)
    done = recallbench("audit", published, "--corpus-file", dataset, "--verbose", cwd=tmp_path)
    assert done.returncode in (0, 1)
    assert "0.833 is recall_frac@2, bare ids, over all rows, 1 for those without gold (3): 0.83333" in done.stdout


def test_controls_are_tables_on_a_terminal_and_need_the_dataset(tmp_path: Path) -> None:
    published = folder(tmp_path, LOCOMO, locomo_rows())
    done = recallbench("multiverse", published, "--controls", cwd=tmp_path)
    assert done.returncode == 2
    assert "BM25 and chance can't be taken over its questions" in done.stderr
    dataset = write_dataset(tmp_path)
    lines = recallbench(
        "multiverse", published, "--controls", "--corpus-file", dataset, cwd=tmp_path
    ).stdout.splitlines()
    start = lines.index("chance, own scope, over the same 2 questions that the dataset has gold for")
    assert lines[start + 1].split()[:3] == ["@1", "@2", "@3"]
    assert lines[start + 2].split()[:4] == ["recall_any", "0.5000", "0.8333", "1.0000"]


def test_a_hit_on_membench_counts_by_either_numbering(tmp_path: Path) -> None:
    """By numbers 1 of 2 hits, by either numbering both."""
    rows = [membench_row(0, [4], [9, 4], [8, 3], True), membench_row(1, [5], [6, 6], [5, 7], True)]
    document = surveyed(folder(tmp_path, MEMBENCH, rows))
    assert (document["layout"], document["depth_kept"]) == ("mempalace-membench", 2)
    assert document["gold"] == "as the rows state it (it is over membench, which is no corpus here)"
    assert figures(document, "all rows with gold", "bare ids")["recall_any@2"] == 0.5
    assert document["untold"][-2:] == [
        "a hit is stated in 2 of 2 rows; by the turn's own number it is in 1, by its place in the file in 1, by either "
        "in 2",
        "1 rankings list a number twice: there a number does not name one turn",
    ]


def test_a_log_on_longmemeval_is_cut_and_its_session_ids_keep_their_underscores(tmp_path: Path) -> None:
    """ndcg over what was found: 1/log2(3) of 1 for the first, 1 for the second, though that has one of its two."""
    rows = [
        log_row("a", ["chat_7_1", "answer_x_1"], {"recall_any@1": 0.0, "ndcg_any@3": 0.6309}),
        log_row("b_abs", ["answer_y_1", "chat_7_2"], {"recall_any@1": 1.0, "ndcg_any@3": 1.0}),
    ]
    document = surveyed(folder(tmp_path, LOG, rows), "--published", "0.815")
    assert (document["layout"], document["depth_kept"]) == ("mempalace-longmemeval", 2)
    found = figures(document, "all rows with gold", "bare ids")
    assert (found["recall_any@1"], found["mrr@3"]) == (0.5, 0.75)
    assert found["ndcg@3(found)"] == 0.8155
    assert figures(document, "without abstention", "bare ids")["recall_any@1"] == 0.0


def test_counts_without_ids_can_t_be_scored_again(tmp_path: Path) -> None:
    details = {"retrieved_count": 10, "evidence_count": 1, "found": 1}
    row = {"question": "Where?", "answer": "here", "category": "user_evidence", "recall": 1.0, "details": details}
    published = folder(tmp_path, "results_convomem_raw_top10_1.json", [row])
    said = refusal(published)
    assert "no ranking was kept" in said
    assert "1 rows keep counts, not ids" in said


LOCOMO_ROW = locomo_rows()[0]
MEMBENCH_ROW = membench_row(0, [4], [9, 4], [8, 3], True)
LOG_ROW = log_row("a", ["answer_1"], {"recall_any@1": 1.0})


@pytest.mark.parametrize(
    ("name", "row", "changed", "complaints"),
    [
        (LOCOMO, LOCOMO_ROW, {"retrieved_ids": ["session_2", "facts/9"]}, ["field retrieved_ids", "'facts/9'"]),
        (LOCOMO, LOCOMO_ROW, {"retrieved_ids": ["session_1"] * 3}, ["at most 2 ids, as the file's name says"]),
        (LOCOMO, LOCOMO_ROW, {"evidence": ...}, ["field evidence", "nothing"]),
        (LOCOMO, LOCOMO_ROW, {"recall": 1.5}, ["field recall", "a number from 0 to 1", "1.5"]),
        (LOCOMO, LOCOMO_ROW, {"sample_id": ...}, ["field sample_id"]),
        (MEMBENCH, MEMBENCH_ROW, {"hit_at_k": "yes"}, ["field hit_at_k", "true or false"]),
        (MEMBENCH, MEMBENCH_ROW, {"retrieved_global": [1]}, ["field retrieved_global", "2 places"]),
        (LOG, LOG_ROW, {"question_id": ...}, ["field question_id"]),
        (LOG, LOG_ROW, {"retrieval_results": {}}, ["ranked_items"]),
    ],
)
def test_rows_of_another_form_are_named(
    tmp_path: Path, name: str, row: dict[str, Any], changed: dict[str, Any], complaints: list[str]
) -> None:
    second = {field: value for field, value in {**row, **changed}.items() if value is not ...}
    said = refusal(folder(tmp_path, name, [row, second]))
    place = "line 2" if name == LOG else "row 2"
    assert [part for part in [f"{name}, {place}", *complaints] if part not in said] == []


def test_a_row_that_is_no_object_is_named(tmp_path: Path) -> None:
    assert "row 4: can't be read" in refusal(folder(tmp_path, LOCOMO, [*locomo_rows(), 7]))


def test_a_name_that_states_no_depth_is_refused(tmp_path: Path) -> None:
    said = refusal(folder(tmp_path, "results_locomo.json", locomo_rows()))
    assert "results_locomo.json: how deep its rankings are can't be told" in said


def test_two_files_in_one_folder_are_not_guessed_at(tmp_path: Path) -> None:
    folder(tmp_path, LOCOMO, locomo_rows())
    said = refusal(folder(tmp_path, "results_locomo_hybrid_top2_1.json", locomo_rows()))
    assert "which file of MemPalace's results is meant can't be told" in said
