"""LongMemEval's own retrieval log becomes questions, with what its rows state of themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recallbench.errors import InputError
from recallbench.foreign.layouts import longmemeval
from recallbench.foreign.layouts.registry import LAYOUTS, find_layout


def row(id: str, names: list[Any], gold: list[str], session: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "question_id": id,
        "question_type": "multi-session",
        "question": "Why?",
        "answer_session_ids": gold,
        "haystack_session_ids": [str(name).replace("noans", "answer") for name in names],
        "retrieval_results": {
            "query": "Why?",
            "ranked_items": [{"corpus_id": name, "text": "t", "timestamp": "2023"} for name in names],
            "metrics": {"session": session, "turn": more.pop("turn", {})},
        },
        **more,
    }


def folder(tmp_path: Path, *rows: dict[str, Any] | str) -> Path:
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    (tmp_path / "x_retrievallog_session_flat-bm25").write_text(text)
    return tmp_path


def test_a_session_log_becomes_questions_and_claims(tmp_path: Path) -> None:
    first = row(
        "a", ["s1", "answer_1", "noans_2"], ["answer_1", "answer_2"], {"recall_any@1": 0.0, "recall_any@3": 1.0}
    )
    second = row("b_abs", ["s1"], [], {"recall_any@1": 0.0, "recall_any@3": 0.0})
    third = row("c", ["answer_9"], ["answer_9"], {"recall_any@1": 1.0, "recall_any@3": 1.0})
    log = longmemeval.read(folder(tmp_path, first, second, third))
    first_question, second_question, third_question = log.questions
    assert first_question.ranked == ("s1", "answer_1", "answer_2")
    assert first_question.gold == ("answer_1", "answer_2")
    assert first_question.scored == (("s1", "answer_1", "noans_2"), ("answer_1",)), (
        "the log leaves out what no user said"
    )
    assert (second_question.abstention, third_question.scored) == (True, None)
    assert [(claim.name, claim.value, claim.n) for claim in log.claims] == [
        ("recall_any@1", 0.5, 2),
        ("recall_any@3", 1.0, 2),
    ]
    assert "1 questions have evidence that no user said: the log does not count it as gold" in log.unstated


def test_a_turn_log_ranks_a_session_where_its_first_turn_stands(tmp_path: Path) -> None:
    names = ["s1_2", "answer_1_3", "s1_4", "noans_1_1"]
    (question,) = longmemeval.read(
        folder(tmp_path, row("a", names, ["answer_1"], {"recall_any@1": 0.0}, turn={"recall_any@1": 0.0}))
    ).questions
    assert question.ranked == ("s1", "answer_1")
    assert question.scored == (("s1", "answer_1", "noans_1"), ("answer_1",))


GOOD = row("a", ["answer_1"], ["answer_1"], {"recall_any@1": 1.0})


@pytest.mark.parametrize(
    ("rows", "complaints"),
    [
        ([GOOD, json.dumps(GOOD)[:50]], ["line 2", "a JSON object a line"]),
        ([json.dumps(GOOD) * 2], ["line 1", "two rows on one line"]),
        ([GOOD, {**GOOD, "retrieval_results": {"metrics": {}}}], ["line 2", "ranked_items", "nothing"]),
        ([GOOD, row("b", [], [], {})], ["line 2", "metrics.session", "none"]),
        ([GOOD, row("b", [7], [], {"recall_any@1": 1.0})], ["line 2", "items with a corpus_id"]),
        ([GOOD, row("b", ["x"], [], {"recall_any@1": "1"})], ["line 2", "session.recall_any@1", "a finite number"]),
        ([GOOD, {**GOOD, "question_id": None}], ["line 2", "question_id"]),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(tmp_path: Path, rows: list[Any], complaints: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        longmemeval.read(folder(tmp_path, *rows))
    assert [part for part in ["retrievallog", *complaints] if part not in str(caught.value)] == []


def test_a_folder_of_longmemeval_is_recognised(tmp_path: Path) -> None:
    assert find_layout(folder(tmp_path, GOOD)) is LAYOUTS["longmemeval"]
    (tmp_path / "again.jsonl").write_text(json.dumps(GOOD) + "\n")
    with pytest.raises(InputError, match="which retrieval log is meant"):
        longmemeval.read(tmp_path)
