"""The figures of answers, held to a sum that was made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recallbench.corpora.census import Census, Oddities
from recallbench.corpora.entry import unregistered
from recallbench.corpora.records import Haystack, Question
from recallbench.results.answer_figures import answer_figures
from recallbench.results.answers import AnswerRow, JudgedRow, UsageRow
from recallbench.results.answers_part import AnswersPart, JudgesPart, TokensPart

COST = UsageRow(fresh=10, cache_read=4, cache_write=0, output=2)


def said(correct: float | None, faithful: float | None = None, **more: Any) -> list[JudgedRow]:
    raw = {"correctness": "…"} | ({"faithfulness": "…"} if faithful is not None else {})
    return [
        JudgedRow(judge="llm", correct=correct, faithful=faithful, raw=raw, usage=COST, **more),
        JudgedRow(judge="exact", correct=1.0),
    ]


def row(name: str, **fields: Any) -> AnswerRow:
    return AnswerRow(
        **{"question_id": name, "known": True, "context": ["s/0"], "answer": "so", "usage": COST, **fields}
    )


def question(name: str, kind: str, gold: set[int]) -> Question:
    return Question("s", name, "?", frozenset(gold), kind, answer="so")


QUESTIONS = [question("q1", "a", {0}), question("q2", "a", {1}), question("q3", "b", {0}), question("q4", "b", set())]
QUESTIONS += [question("q5", "b", {0})]
ROWS = [
    row("q1", judged=said(1.0, 1.0), cut=True),
    row("q2", judged=said(0.0, 1.0), usage=None),
    AnswerRow(question_id="q3", known=True, context=[]),  # no answer
    row("q4", known=False, judged=[JudgedRow(judge="llm", raw={"faithfulness": "hm"}), JudgedRow(judge="exact")]),
    row("q5", judged=[JudgedRow(judge="llm", failed=True), JudgedRow(judge="exact", correct=0.0)]),
]


def figures() -> AnswersPart:
    census = Census()
    census.count(Haystack("s", (), tuple(QUESTIONS)))
    survey = census.survey(Path("five.json"), "five.json", "", unregistered("five", "five.json", ""), Oddities(), ())
    return answer_figures("chat", {"llm": True, "exact": True}, ROWS, QUESTIONS, [9] * 5, survey)


def test_each_answer_counts_where_it_can_be_right_or_wrong() -> None:
    found = figures()
    assert (found.questions, found.unknown, found.failed, found.cut, found.context) == (5, 1, ["q3"], 1, 1.0)
    assert found.tokens == TokensPart(fresh=30, cache_read=12, cache_write=0, output=6, uncounted=1)
    llm, exact = found.judges
    # q1 right, q2 wrong, q3 without an answer and q5 without a verdict the worst; of q4 nothing is known.
    assert {name: (share.value, share.n) for name, share in llm.correct.items()} == {
        "overall": (0.25, 4),
        "a": (0.5, 2),
        "b": (0.0, 2),
    }
    assert (llm.correct["overall"].low, llm.correct["overall"].method) == (0.0455872608, "Wilson 95%")
    assert {name: (share.value, share.n) for name, share in llm.faithful.items()} == {
        "overall": (0.5, 4),
        "a": (1.0, 2),
        "b": (0.0, 2),
    }
    assert (llm.with_gold.value, llm.with_gold.n) == (0.5, 2)
    assert (llm.without_gold.value, llm.without_gold.n) == (0.0, 2)
    assert (llm.undecided, llm.failed) == (1, ["q5"])
    assert llm.tokens == TokensPart(fresh=20, cache_read=8, cache_write=0, output=4, uncounted=1)
    assert (exact.correct["overall"].value, exact.faithful, exact.tokens) == (0.5, {}, None)
    assert found.agreement == [
        JudgesPart(first="llm", second="exact", of="correct", n=2, agreement=0.5, kappa=0.0),
    ]
