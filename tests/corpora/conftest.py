"""Tiny corpora in the shapes of the real ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recallbench.corpora.locomo import Locomo
from recallbench.corpora.longmemeval import LongMemEval
from recallbench.protocol import load
from recallbench.protocol.rules import CorpusRules

Edit = Callable[[Any], None]


def small_rules(name: str) -> CorpusRules:
    """Return the corpus's rules, as if the tiny file had been registered with another hash."""
    return replace(load().corpora[name], sha256="0" * 64)


@pytest.fixture
def locomo_data() -> list[dict[str, Any]]:
    def turn(speaker: str, dia_id: str, text: str, **more: Any) -> dict[str, Any]:
        return {"speaker": speaker, "dia_id": dia_id, "text": text, **more}

    return [
        {
            "sample_id": "conv-1",
            "conversation": {
                "speaker_a": "Ann",
                "speaker_b": "Bo",
                "session_10_date_time": "12:05 am on 1 March, 2023",
                "session_10": [turn("Ann", "D10:1", "The boat is sold.")],
                "session_2_date_time": "1:56 pm on 8 May, 2022",
                "session_2": [
                    turn("Ann", "D2:1", "Hello!", blip_caption="a photo of a boat"),
                    turn("Bo", "D2:2", "I bought a boat."),
                ],
                "session_11_date_time": "9:00 am on 2 March, 2023",
            },
            "qa": [
                {"question": "What did Bo buy?", "answer": "a boat", "evidence": ["D2:2"], "category": 4},
                {"question": "Which boats were there?", "answer": 1, "evidence": ["D2:2", "D10:1"], "category": 1},
                {"question": "Who sank?", "adversarial_answer": "Bo", "evidence": ["D10:1"], "category": 5},
                {"question": "Is Bo rich?", "answer": "No", "evidence": [], "category": 3},
            ],
        }
    ]


@pytest.fixture
def longmemeval_data() -> list[dict[str, Any]]:
    return [
        {
            "question_id": "q1",
            "question_type": "multi-session",
            "question": "Where is my key?",
            "question_date": "2023/05/30 (Tue) 23:40",
            "answer": "In the shoe",
            "answer_session_ids": ["answer_1"],
            "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:57"],
            "haystack_session_ids": ["chat_1", "answer_1"],
            "haystack_sessions": [
                [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello\nthere"}],
                [
                    {"role": "assistant", "content": "Yes?", "has_answer": False},
                    {"role": "user", "content": "The key is in the shoe.", "has_answer": True},
                ],
            ],
        }
    ]


@pytest.fixture
def locomo(tmp_path: Path, locomo_data: list[dict[str, Any]]) -> Callable[[Edit | None], Locomo]:
    """Return a reader of the tiny conversation, edited."""

    def make(edit: Edit | None = None) -> Locomo:
        if edit:
            edit(locomo_data)
        path = tmp_path / "locomo10.json"
        path.write_text(json.dumps(locomo_data), "utf-8")
        return Locomo(path, small_rules("locomo"), load())

    return make


@pytest.fixture
def longmemeval(tmp_path: Path, longmemeval_data: list[dict[str, Any]]) -> Callable[[Edit | None], LongMemEval]:
    """Return a reader of the tiny item, edited."""

    def make(edit: Edit | None = None) -> LongMemEval:
        if edit:
            edit(longmemeval_data)
        path = tmp_path / "longmemeval_s_cleaned.json"
        path.write_text(json.dumps(longmemeval_data), "utf-8")
        return LongMemEval(path, small_rules("longmemeval"), load())

    return make
