"""agent-memory-benchmark, memorybench, Mem0: answers are theirs, the sessions behind them are scored here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_locomo import QUESTIONS, figures, refusal, surveyed, write_dataset

PIECES = [[2, 2, 1], [2, 3, 1], [1]]
"""The sessions of the pieces that came back, by question: of the first two, any@1 .5, any@2 1, frac@2 .75."""


def text(*sessions: int) -> str:
    pieces = [f'[{{"speaker": "Ana", "dia_id": "D{number}:1", "text": "…"}}]' for number in sessions]
    return "\n\n".join(f"## Memory {place}\n{piece}" for place, piece in enumerate(pieces, start=1))


def output(**changed: Any) -> dict[str, Any]:
    results = [
        {"query_id": f"conv-1_q{number}", "query": question, "answer": "?", "context": text(*sessions), "correct": True}
        | {"gold_answers": ["?"], "meta": {"sample_id": "conv-1", "category": "single-hop"}}
        for number, ((question, _, _), sessions) in enumerate(zip(QUESTIONS, PIECES, strict=True))
    ]
    head = {"dataset": "locomo", "split": "locomo10", "category": None, "memory_provider": "m", "run_name": "m"}
    counts = {"mode": "rag", "oracle": False, "total_queries": 3, "correct": 3, "accuracy": 1.0}
    return {**head, **counts, "results": results, **changed}


def report(**changed: Any) -> dict[str, Any]:
    judged = {"hitAtK": 1, "precisionAtK": 0.5, "recallAtK": 1, "f1AtK": 0.7, "mrr": 0.5, "ndcg": 0.6, "k": 3}
    evaluations = [
        {"questionId": f"conv-1-q{number}", "questionType": "single-hop", "question": question, "score": 1}
        | {"searchResults": [{"memory": "…", "metadata": {"sessionId": f"conv-1-session_{n}"}} for n in sessions]}
        | {"retrievalMetrics": judged}
        for number, ((question, _, _), sessions) in enumerate(zip(QUESTIONS, PIECES, strict=True))
    ]
    head = {"provider": "m", "benchmark": "locomo", "runId": "r", "judge": "j", "answeringModel": "a"}
    summary = {"totalQuestions": 3, "correctCount": 3, "accuracy": 1.0}
    return {**head, "summary": summary, "latency": {}, "evaluations": evaluations, **changed}


def mem0_results(**changed: Any) -> dict[str, Any]:
    """By score the memories of both come from sessions 2, 2 and 1 for the first question, 2, 3 and 1 for the next."""
    scored = [[(2, 0.9), (1, 0.5)], [(3, 0.8), (1, 0.7)], [(1, 0.4)]], [[(2, 0.6)], [(2, 0.9)], []]
    speakers = [
        [
            [
                {"memory": "…", "timestamp": f"1:00 pm on {number} May, 2023", "score": score}
                for number, score in memories
            ]
            for memories in speaker
        ]
        for speaker in scored
    ]
    rows = [
        {"question": question, "answer": "?", "category": category, "evidence": evidence, "response": "?"}
        | {"speaker_1_memories": first, "speaker_2_memories": second}
        for (question, evidence, category), first, second in zip(QUESTIONS, *speakers, strict=True)
    ]
    return {"0": rows, **changed}


def folder(tmp_path: Path, document: dict[str, Any]) -> Path:
    path = tmp_path / "published"
    path.mkdir(exist_ok=True)
    (path / "report.json").write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("document", "layout", "scope"),
    [
        (output(), "agent-memory-benchmark", "bare ids"),
        (report(), "memorybench", "own scope"),
        (mem0_results(), "mem0", "bare ids"),
    ],
)
def test_the_sessions_of_what_came_back_are_scored_by_the_datasets_gold(
    tmp_path: Path, document: dict[str, Any], layout: str, scope: str
) -> None:
    survey = surveyed(folder(tmp_path, document), "--corpus-file", write_dataset(tmp_path))
    stated = layout == "mem0"
    gold = (
        "as the dataset gives it, and as the rows state it"
        if stated
        else "as the dataset gives it: the rows state none"
    )
    assert (survey["layout"], survey["gold"]) == (layout, gold)
    assert [sentence for sentence in survey["untold"] if "7 " in sentence and "2.3 a question" in sentence]
    found = figures(survey, "all rows with gold", scope)
    names = ("recall_any@1", "recall_frac@1", "recall_any@3", "recall_all@3", "mrr@3")
    assert [found[name] for name in names] == [0.5, 0.5, 1.0, 1.0, 0.75]
    assert not [cell for cell in survey["cells"] if "gold as stated" in cell["scope"]]


@pytest.mark.parametrize("document", [output(), mem0_results()])
def test_without_the_dataset_nothing_tells_what_is_gold(tmp_path: Path, document: dict[str, Any]) -> None:
    assert "nothing tells which session is gold" in refusal(folder(tmp_path, document))


def test_pieces_that_name_no_turn_are_counted_and_left_out(tmp_path: Path) -> None:
    document = output()
    document["results"][0]["context"] = "## Memory 1\nsomething\n\n" + text(2).replace("Memory 1", "Memory 2")
    survey = surveyed(folder(tmp_path, document), "--corpus-file", write_dataset(tmp_path))
    assert "1 pieces name no turn: they are left out, and what lies behind them moves up" in survey["untold"]
    assert figures(survey, "all rows with gold", "bare ids")["recall_any@1"] == 0.5


def changed(document: dict[str, Any], rows: str, **fields: Any) -> dict[str, Any]:
    document[rows][1] = {name: value for name, value in {**document[rows][1], **fields}.items() if value is not ...}
    return document


@pytest.mark.parametrize(
    ("document", "complaints"),
    [
        (output(dataset="beam"), ["head 1: field dataset", "locomo, whose turns name themselves", "'beam'"]),
        (output(total_queries=4), ["head 1: field total_queries", "3, the rows of the file", "4"]),
        (changed(output(), "results", context=...), ["row 2: field context", "the retrieved text"]),
        (changed(output(), "results", context="## Memory 2\n"), ["row 2: field context", "`## Memory 1`"]),
        (changed(output(), "results", meta={}), ["row 2: field sample_id"]),
        (changed(output(), "results", correct=1), ["row 2: field correct", "true or false"]),
        (report(benchmark="convomem"), ["head 1: field benchmark", "locomo or longmemeval"]),
        (changed(report(), "evaluations", questionId="q1"), ["row 2: field questionId", "conv-26-q0"]),
        (changed(report(), "evaluations", searchResults=...), ["row 2: field searchResults", "a list of results"]),
        (changed(report(), "evaluations", searchResults=[{"fact": "…"}]), ["row 2", "metadata.sessionId"]),
        (changed(report(), "evaluations", retrievalMetrics={"k": 3}), ["row 2: field retrievalMetrics.hitAtK"]),
        (changed(mem0_results(), "0", speaker_1_memories=...), ["conversation 0, row 2: field speaker_1_memories"]),
        (changed(mem0_results(), "0", speaker_2_memories=["…"]), ["memories with a score and a time such as 1:56 pm"]),
        (
            changed(
                mem0_results(),
                "0",
                speaker_2_memories=[
                    {"memory": "…", "timestamp": "1:00 pm on 1 May, 2023", "score": score} for score in (0.5, 0.5, 0.7)
                ],
            ),
            ["row 2: field speaker_2_memories", "the highest score first", "0.7 behind 0.5"],
        ),
        (mem0_results(b=[]), ["conversation b", "conversations by their number, from 0"]),
        (mem0_results(**{"1": {}}), ["conversation 1", "a list of rows"]),
    ],
)
def test_what_is_of_another_form_is_named(tmp_path: Path, document: dict[str, Any], complaints: list[str]) -> None:
    said = refusal(folder(tmp_path, document))
    assert [part for part in ["report.json", *complaints] if part not in said] == []


def test_texts_that_never_name_a_turn_are_refused(tmp_path: Path) -> None:
    document = output()
    for row in document["results"]:
        row["context"] = "## Memory 1\na fact"
    assert "no retrieved text names a turn" in refusal(folder(tmp_path, document))
