"""REALTALK: ten real conversations of about three weeks, by session or by turn.

A turn's id `D<dialog>:<turn>` does not number the sessions of the file: in five of ten conversations some dialogs were
parted into several of them. So evidence is looked up by the ids of turns, and never by the number of a session.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from recallbench.corpora.census import Oddities
from recallbench.corpora.entry import CorpusEntry
from recallbench.corpora.field_reader import FieldReader
from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.corpora.release_corpus import ReleaseCorpus, release_entry
from recallbench.corpora.stream import Stream

WITH_EVIDENCE, ALL = DENOMINATORS = ("with-evidence", "all")
KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain"}
"""LoCoMo's numbering, which the file keeps; the paper calls the third commonsense."""
REGISTERED = Path(__file__).parent / "realtalk.toml"
WORTH = (
    "61 questions name a turn that the publishers took out with its image: by session these count all the same, by "
    "turn only what is left of their evidence does."
)
_FILE = re.compile(r"data/Chat_([0-9]+)_\w+\.json")
_SESSION = re.compile(r"session_([0-9]+)")
_TURN = re.compile(r"D([0-9]+):([0-9]+)")
_WHEN = "%d.%m.%Y, %H:%M:%S"


@dataclass(slots=True)
class _Chat:
    """A conversation cut into segments, and where its sessions and turns are."""

    segments: list[Segment] = field(default_factory=list)
    turns: dict[int, dict[int, tuple[int, int]]] = field(default_factory=dict)
    """Dialog and turn, as their id numbers them, to position and the character at which the turn starts."""

    def place_taken_out(self, dialog: int, turn: int) -> int | None:
        """Return the position of the session that a missing turn stood in: that of the last turn before it."""
        there = self.turns.get(dialog, {})
        before = [number for number in there if number <= turn]
        return there[max(before) if before else min(there)][0] if there else None


class RealTalk(ReleaseCorpus):
    """Segments are sessions, each with the time at which it began."""

    denominators = DENOMINATORS
    small = True
    by_turn: ClassVar[bool] = False

    def read(self, files: Mapping[str, Stream], oddities: Oddities) -> Iterator[Haystack]:
        for name, stream in sorted(files.items(), key=lambda entry: _number(entry[0])):
            scope = PurePosixPath(name).stem
            reader = FieldReader(self.name, str(stream.path), f"conversation {scope}")
            record = stream.object()
            chat = self._chat(scope, record, reader, oddities)
            marked: dict[int, set[int]] = {}
            questions = tuple(
                self._question(scope, place, entry, chat, marked, reader, oddities)
                for place, entry in enumerate(reader.entries(record, "qa"))
            )
            segments = tuple(
                replace(segment, gold_turns=tuple(sorted(marked.get(segment.position, ()))))
                for segment in chat.segments
            )
            yield Haystack(scope, segments, questions)

    def _chat(self, scope: str, record: dict[str, Any], reader: FieldReader, oddities: Oddities) -> _Chat:
        chat = _Chat()
        numbers = sorted(int(match[1]) for key in record if (match := _SESSION.fullmatch(key)))
        if not numbers:
            raise reader.refusal("session_1", "at least one session_<number>", "no session")
        for number in numbers:
            key = f"session_{number}"
            when = reader.text(record, f"{key}_date_time")
            said = []
            for place, turn in enumerate(reader.entries(record, key), 1):
                here = reader.inside(f"{key}, turn {place}")
                words, id = here.string(turn, "clean_text"), here.text(turn, "dia_id")
                match = _TURN.fullmatch(id)
                if match is None:
                    raise here.refusal("dia_id", "D<dialog>:<turn>", id)
                said.append((int(match[1]), int(match[2]), f"{here.text(turn, 'speaker')}: {words}"))
                oddities.turns += 1
                oddities.empty_turns += not words.strip()
            occurred_at = _instant(when, f"{key}_date_time", reader)
            if self.by_turn:
                for dialog, turn, line in said:
                    chat.turns.setdefault(dialog, {})[turn] = (len(chat.segments), 0)
                    text = reader.storable(key, line)
                    id = f"D{dialog}:{turn}"
                    chat.segments.append(Segment(scope, len(chat.segments), text, occurred_at, id))
                continue
            position = len(chat.segments)
            lines = [f"[{when}]"]
            for dialog, turn, line in said:
                chat.turns.setdefault(dialog, {})[turn] = (position, sum(map(len, lines)) + len(lines))
                lines.append(line)
            text = reader.storable(key, "\n".join(lines))
            chat.segments.append(Segment(scope, position, text, occurred_at, key))
        return chat

    def _question(
        self,
        scope: str,
        place: int,
        record: Any,
        chat: _Chat,
        marked: dict[int, set[int]],
        reader: FieldReader,
        oddities: Oddities,
    ) -> Question:
        id = f"{scope}#{place}"
        here = replace(reader, item=f"question {id}")
        category = here.number(record, "category")
        if category not in KINDS:
            raise here.refusal("category", f"one of {', '.join(map(str, KINDS))}", str(category))
        gold: set[int] = set()
        for words in _TURN.findall(" ".join(here.words(record, "evidence"))):
            dialog, turn = map(int, words)
            found = chat.turns.get(dialog, {}).get(turn)
            if found is not None:
                marked.setdefault(found[0], set()).add(found[1])
                gold.add(found[0])
                continue
            oddities.names_nothing(f"D{dialog}:{turn}", id)
            position = None if self.by_turn else chat.place_taken_out(dialog, turn)
            gold |= set() if position is None else {position}
        return Question(
            scope,
            id,
            here.text(record, "question"),
            frozenset(gold),
            KINDS[category],
            cluster=scope,
            denominators=frozenset({ALL, WITH_EVIDENCE} if gold else {ALL}),
            answer=here.answer(record),
        )


class RealTalkTurns(RealTalk):
    """Segments are turns."""

    by_turn = True


def _number(name: str) -> tuple[int, str]:
    match = _FILE.fullmatch(name)
    return (int(match[1]) if match else 0), name


def _instant(when: str, field: str, reader: FieldReader) -> datetime:
    try:
        return datetime.strptime(when, _WHEN).replace(tzinfo=UTC)
    except ValueError:
        raise reader.refusal(field, "a time such as 29.12.2023, 22:42:04", repr(when)) from None


def write_miniature(root: Path) -> None:
    """Write two conversations of a few turns in REALTALK's layout."""
    topics = ("bread", "guitar", "garden", "train", "harbour", "chess")
    (root / "data").mkdir(parents=True)
    for number, names in enumerate((("Ada", "Ben"), ("Cleo", "Dan")), 1):
        chat: dict[str, Any] = {"name": {"speaker_1": names[0], "speaker_2": names[1]}, "qa": []}
        for session, topic in enumerate(topics, 1):
            chat[f"session_{session}_date_time"] = f"{session:02d}.05.2023, 13:00:00"
            chat[f"session_{session}"] = [
                {"speaker": names[0], "dia_id": f"D{session}:1", "clean_text": f"I spent all day on {topic}."},
                {"speaker": names[1], "dia_id": f"D{session}:2", "clean_text": "Tell me more."},
            ]
            question = f"When did {names[0]} talk about {topic}?"
            chat["qa"].append({"question": question, "evidence": [f"D{session}:1"], "category": 1 + session % 3})
        (root / "data" / f"Chat_{number}_{'_'.join(names)}.json").write_text(json.dumps(chat), encoding="utf-8")


def _entry(name: str, reader: type[RealTalk], unit: str, questions_of: str = "") -> CorpusEntry:
    return release_entry(
        name,
        REGISTERED,
        reader,
        write_miniature,
        licence="none stated",
        worth=WORTH,
        unit=unit,
        questions_of=questions_of,
    )


CORPORA = (_entry("realtalk", RealTalk, "session"), _entry("realtalk-turns", RealTalkTurns, "turn", "realtalk"))
