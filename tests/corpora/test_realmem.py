"""RealMem: sessions, the questions in them, and what these could see."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recallbench.corpora.entry import unregistered
from recallbench.corpora.realmem import RealMem
from recallbench.corpora.release import Release
from recallbench.errors import InputError
from recallbench.protocol import load

RULES = load()
FACTS = replace(unregistered("realmem", "dataset/*_256k.json", ""), unseen_gold=1)
PATTERNS = ("dataset/*_256k.json",)


def asked(id: str, text: str, *gold: str) -> list[dict[str, Any]]:
    """A question and the reply that names its gold."""
    return [
        {"speaker": "User", "is_query": True, "query_id": id, "category_name": "Dynamic Updating", "content": text},
        {"speaker": "Assistant", "is_query": False, "content": "So it is.", "memory_session_uuids": list(gold)},
    ]


def session(uuid: str, day: str, *turns: dict[str, Any]) -> dict[str, Any]:
    return {"session_uuid": uuid, "current_time": f"{day} (Monday)", "dialogue_turns": list(turns)}


SESSIONS = [
    session("aa", "2025-12-03", {"speaker": "User", "is_query": False, "content": "The boat is sold."}),
    session("bb", "2025-12-01", {"speaker": "User", "content": ""}, *asked("Q-0001", "What of the boat?", "aa", "bb")),
    session("cc", "2025-12-02", *asked("Q-0002", "And the oars?", "zz"), *asked("Q-0003", "Which boat?", "bb", "aa")),
]


def corpus(root: Path, sessions: list[dict[str, Any]]) -> RealMem:
    (root / "dataset").mkdir(parents=True)
    document = {"_metadata": {"person_name": "Ada"}, "dialogues": sessions}
    (root / "dataset" / "Ada_dialogues_256k.json").write_text(json.dumps(document))
    return RealMem(root, FACTS, RULES, Release("realmem", {}, PATTERNS))


def test_a_question_sees_the_sessions_before_its_own_in_the_order_of_the_file(tmp_path: Path) -> None:
    opened = corpus(tmp_path, SESSIONS)
    (haystack,) = opened.haystacks()
    survey = opened.survey()
    assert (haystack.scope, [segment.text for segment in haystack.segments]) == (
        "Ada",
        [
            "[2025-12-03 (Monday)]\nUser: The boat is sold.",
            "[2025-12-01 (Monday)]\nUser: \nUser: What of the boat?\nAssistant: So it is.",
            "[2025-12-02 (Monday)]\nUser: And the oars?\nAssistant: So it is.\nUser: Which boat?\nAssistant: So it is.",
        ],
    )
    assert [f"{segment.occurred_at:%d}" for segment in haystack.segments] == ["03", "01", "02"]
    assert [(q.id, q.visible, set(q.gold), str(q.asked_at)[:10], q.answer) for q in haystack.questions] == [
        ("Ada/Q-0001", 1, {0}, "2025-12-01", "So it is."),
        ("Ada/Q-0002", 2, set(), "2025-12-02", "So it is."),
        ("Ada/Q-0003", 2, {0, 1}, "2025-12-02", "So it is."),
    ]
    # The first also names its own session, the second one that there is not.
    assert (survey.unseen_gold, survey.missing_turns, survey.asked, survey.kinds) == (1, 1, 2, {"Dynamic Updating": 3})
    assert (survey.turns, survey.empty_turns) == (8, 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"session_uuid": "aa"}, "session 3: field session_uuid"),
        ({"current_time": "yesterday"}, "session 3: field current_time"),
        ({"dialogue_turns": asked("Q 1", "What?")}, "session 3, turn 1: field query_id"),
        ({"dialogue_turns": asked("Q-1", "What?")[:1]}, "session 3, turn 1, the reply behind it: field memory_session"),
        ({"dialogue_turns": asked("Q-1", " ")}, "session 3, turn 1: field content"),
    ],
)
def test_what_can_not_be_read_is_refused_by_its_place(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as refused:
        corpus(tmp_path, [*SESSIONS[:2], SESSIONS[2] | change]).survey()
    assert words in refused.value.problem


def test_gold_that_is_yet_to_come_is_counted_beside_what_is_registered(tmp_path: Path) -> None:
    opened = corpus(tmp_path, SESSIONS)
    opened.facts = replace(FACTS, questions=3, with_evidence=2, segments=3, visible=6)
    checks = {check.name: (check.expected, check.found) for check in opened.survey().checks}
    assert checks["references to sessions that were yet to come"] == ("1", "1")
    assert checks["visible segments of all questions"] == ("6", "5")
