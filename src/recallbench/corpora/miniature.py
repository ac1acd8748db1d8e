"""Corpora of a few lines, each in the shape of a real one: a dry run walks the whole path with them."""

from __future__ import annotations

import json
from pathlib import Path

from recallbench.corpora.labelled_sets.labelled_records import DOCUMENTS, SHORT

TOPICS = (
    "bread",
    "guitar",
    "garden",
    "train",
    "harbour",
    "chess",
    "kites",
    "pottery",
    "violin",
    "mountain",
    "camera",
    "tea",
)
SESSIONS = len(TOPICS)


def write_locomo(path: Path) -> None:
    """Two conversations in LoCoMo's shape, a question per session."""
    conversations = []
    for number, names in enumerate((("Ada", "Ben"), ("Cleo", "Dan"))):
        conversation: dict[str, object] = {"speaker_a": names[0], "speaker_b": names[1]}
        questions = []
        for session, topic in enumerate(TOPICS, start=1):
            conversation[f"session_{session}_date_time"] = f"1:{session:02d} pm on {session} May, 2023"
            conversation[f"session_{session}"] = [
                {"speaker": names[0], "dia_id": f"D{session}:1", "text": f"I spent all day on {topic}."},
                {"speaker": names[1], "dia_id": f"D{session}:2", "text": "Tell me more."},
            ]
            questions.append(
                {
                    "question": f"When did {names[0]} talk about {topic}?",
                    "answer": f"{session} May 2023",
                    "evidence": [f"D{session}:1"],
                    "category": 1 + session % 5,
                }
            )
        conversations.append({"sample_id": f"mini-{number}", "conversation": conversation, "qa": questions})
    path.write_text(json.dumps(conversations), encoding="utf-8")


def write_longmemeval(path: Path) -> None:
    """A few items in LongMemEval's shape, each with a haystack of its own."""
    items = []
    for number, topic in enumerate(TOPICS):
        gold = f"answer_{number}"
        items.append(
            {
                "question_id": f"mini_{number}" + ("_abs" if number == 0 else ""),
                "question_type": "single-session-user",
                "question": f"What did I say about {topic}?",
                "question_date": "2023/06/01 (Thu) 10:00",
                "answer": topic,
                "answer_session_ids": [gold],
                "haystack_dates": [f"2023/05/{day:02d} (Mon) 10:00" for day in range(1, SESSIONS + 1)],
                "haystack_session_ids": [gold if i == number else f"filler_{i}" for i in range(SESSIONS)],
                "haystack_sessions": [
                    [
                        {"role": "user", "content": f"I spent all day on {other}.", "has_answer": i == number},
                        {"role": "assistant", "content": "How nice."},
                    ]
                    for i, other in enumerate(TOPICS)
                ],
            }
        )
    path.write_text(json.dumps(items), encoding="utf-8")


def write_labelled(path: Path) -> None:
    """A folder of documents and queries, each with the id and the text of its answer."""
    path.mkdir()
    texts = {f"note-{number}": f"I spent all day on {topic}." for number, topic in enumerate(TOPICS)}
    documents = [{"_id": id, "text": text} for id, text in texts.items()]
    queries = [
        {"query_id": f"q{number}", "query": f"What did I say about {topic}?", "relevant": [id], "expected": texts[id]}
        for number, (id, topic) in enumerate(zip(texts, TOPICS, strict=True))
    ]
    for name, rows in ((DOCUMENTS, documents), (SHORT, queries)):
        (path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
