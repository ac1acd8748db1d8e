"""The results of Mem0's own program on LoCoMo: memories of both speakers, each with the time of its session."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from recallbench.corpora.locomo import session_time
from recallbench.corpora.stream import Stream
from recallbench.foreign.layouts.layout import Imported, ImportedQuestion, JsonFields, Layout, shown
from recallbench.foreign.layouts.mempalace import evidence_sessions
from recallbench.foreign.layouts.row_files import files_with, the_one
from recallbench.reading import is_finite, regular

_NUMBER = re.compile(r"[0-9]{1,6}")
_SPEAKERS = ("speaker_1_memories", "speaker_2_memories")


def recognises(folder: Path) -> bool:
    """Return whether there is such a file."""
    return bool(_files(folder))


def _files(folder: Path) -> list[Path]:
    return files_with(folder, "*.json", ("question", "evidence", "response", *_SPEAKERS))


def read(folder: Path) -> Imported:
    """Return the rows, ranked by the memories' scores; conversations have numbers, and sessions their times."""
    path = the_one(folder, _files(folder), "file of Mem0's results")
    questions: list[ImportedQuestion] = []
    memories = 0
    for number, rows in Stream(regular(path), "").entries():
        for row in _rows(path, number, rows):
            found = _memories(row)
            memories += len(found)
            questions.append(_question(row, number, found))
    return Imported(
        NAME,
        folder,
        tuple(questions),
        (),
        {},
        tuple(_unstated(questions, memories)),
        rows=path.name,
        corpus="locomo",
        by_time=True,
    )


def _rows(path: Path, number: str, rows: Any) -> Iterator[JsonFields]:
    head = JsonFields(path, 1, {}, f"conversation {number}, row")
    if _NUMBER.fullmatch(number) is None:
        raise head.refusal("", "conversations by their number, from 0", shown(number))
    if not isinstance(rows, list):
        raise head.refusal("", "a list of rows", shown(rows))
    for place, item in enumerate(rows, start=1):
        row = JsonFields(path, place, item if isinstance(item, dict) else {}, head.unit)
        if not isinstance(item, dict):
            raise row.refusal("", "an object in each row", shown(item))
        yield row


def _memories(row: JsonFields) -> list[tuple[float, str]]:
    """Return score and time of each memory, the better ones first; of equal ones the first speaker's."""
    found = []
    for name in _SPEAKERS:
        memories = row.fields.get(name)
        if not isinstance(memories, list):
            raise row.refusal(name, "a list of memories", shown(memories))
        scores: list[float] = []
        for memory in memories:
            score = memory.get("score") if isinstance(memory, dict) else None
            when = memory.get("timestamp") if isinstance(memory, dict) else None
            time = session_time(when) if isinstance(when, str) else None
            if not is_finite(score) or time is None:
                raise row.refusal(
                    name, "memories with a score and a time such as 1:56 pm on 8 May, 2023", shown(memory)
                )
            if scores and score > scores[-1]:
                raise row.refusal(
                    name,
                    "memories with the highest score first (a distance is to be turned round)",
                    f"{score:g} behind {scores[-1]:g}",
                )
            scores.append(float(score))
            found.append((scores[-1], time.isoformat()))
    return sorted(found, key=lambda memory: -memory[0])


def _question(row: JsonFields, number: str, memories: Sequence[tuple[float, str]]) -> ImportedQuestion:
    return ImportedQuestion(
        id=f"{number} row={row.line}",
        gold=evidence_sessions(row),
        ranked=tuple(dict.fromkeys(time for _, time in memories)),
        scope=number,
        kinds={"category": row.required("category")},
        text=row.required("question"),
    )


def _unstated(questions: Sequence[ImportedQuestion], memories: int) -> Iterator[str]:
    yield "the file states no dataset hash, no version and no settings, and no figure: answers are judged elsewhere"
    yield (
        f"{memories} memories came back, {memories / max(len(questions), 1):.1f} a question, of both speakers, by "
        "score: a session stands where its first memory stands, so that k counts sessions"
    )
    yield "a memory is of the session whose time it bears"


NAME = "mem0"
LAYOUT = Layout(NAME, "the results of Mem0's own program on LoCoMo", recognises, read)
