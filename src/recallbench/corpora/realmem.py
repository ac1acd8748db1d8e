"""RealMem: long-running projects of ten people with an assistant, and what the assistant drew on for its answers.

A question is a turn of a session, and sees the sessions before its own. Their order is that of the file, which in three
of ten files is not that of their dates.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from recallbench.corpora.census import Oddities
from recallbench.corpora.entry import CorpusEntry
from recallbench.corpora.field_reader import FieldReader
from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.corpora.release_corpus import ReleaseCorpus, release_entry
from recallbench.corpora.stream import Stream

WITH_EVIDENCE, ALL = DENOMINATORS = ("with-evidence", "all")
REGISTERED = Path(__file__).parent / "realmem.toml"
LICENCE = "Apache-2.0 by its file LICENSE; the badge of its README says MIT"
WORTH = (
    "Its gold is what a generator used for its answer: other sessions may answer as well, so every recall is a lower "
    "bound, for all systems alike. A question sees the sessions before its own, in the order of the file: in "
    "three of ten files that is not the order of the dates."
)
SUFFIX = "_dialogues_256k.json"


class RealMem(ReleaseCorpus):
    """Segments are sessions, each with its date; a question may be answered from those before its own."""

    denominators = DENOMINATORS

    def read(self, files: Mapping[str, Stream], oddities: Oddities) -> Iterator[Haystack]:
        for name, stream in files.items():
            if not name.endswith(SUFFIX):
                continue  # the licence
            scope = PurePosixPath(name).name.removesuffix(SUFFIX)
            reader = FieldReader(self.name, str(stream.path), f"person {scope}")
            yield _Person(scope, reader, oddities).read(stream)


class _Person:
    """One file: the sessions of a person, and the questions that stand in them."""

    def __init__(self, scope: str, reader: FieldReader, oddities: Oddities) -> None:
        self._scope, self._reader, self._oddities = scope, reader, oddities
        self._segments: list[Segment] = []
        self._places: dict[str, int] = {}
        """The position of each session by its uuid."""
        self._asked: list[tuple[Question, list[str]]] = []
        """Each question, with the uuids of its gold."""

    def read(self, stream: Stream) -> Haystack:
        for number, record in enumerate(stream.items("dialogues"), 1):
            self._session(record, self._reader.inside(f"session {number}"))
        return Haystack(self._scope, tuple(self._segments), tuple(self._resolved()))

    def _session(self, record: Any, reader: FieldReader) -> None:
        uuid, when = reader.text(record, "session_uuid"), reader.text(record, "current_time")
        position = len(self._segments)
        if self._places.setdefault(uuid, position) != position:
            raise reader.refusal("session_uuid", "a uuid that no other session of the file has", uuid)
        day = _day(when, reader)
        turns = reader.entries(record, "dialogue_turns")
        lines = [f"[{when}]"]
        for place, turn in enumerate(turns):
            here = reader.inside(f"turn {place + 1}")
            said = here.string(turn, "content")
            lines.append(f"{here.text(turn, 'speaker')}: {said}")
            self._oddities.turns += 1
            self._oddities.empty_turns += not said.strip()
            if turn.get("is_query"):
                reply = turns[place + 1] if place + 1 < len(turns) else None
                self._question(turn, reply, position, day, here)
        text = reader.storable("dialogue_turns", "\n".join(lines))
        self._segments.append(Segment(self._scope, position, text, day, uuid))

    def _question(self, turn: Any, reply: Any, position: int, day: datetime, reader: FieldReader) -> None:
        question = Question(
            self._scope,
            f"{self._scope}/{reader.identifier(turn, 'query_id')}",
            reader.text(turn, "content"),
            frozenset(),
            reader.text(turn, "category_name"),
            asked_at=day,
            cluster=self._scope,
            denominators=frozenset({ALL}),
            answer=str(reply.get("content", "")) if isinstance(reply, dict) else "",
            visible=position,
        )
        self._asked.append((question, reader.inside("the reply behind it").words(reply, "memory_session_uuids")))

    def _resolved(self) -> Iterator[Question]:
        """Yield each question with its gold: the sessions it names, of those before its own."""
        for question, uuids in self._asked:
            there = [self._places[uuid] for uuid in uuids if uuid in self._places]
            gold = frozenset(place for place in there if place < question.candidates(len(self._segments)))
            for uuid in uuids:
                if uuid not in self._places:
                    self._oddities.names_nothing(uuid, question.id)
            self._oddities.unseen_gold += len(set(there) - gold)
            denominators = frozenset({ALL, WITH_EVIDENCE}) if gold else question.denominators
            yield replace(question, gold=gold, denominators=denominators)


def _day(when: str, reader: FieldReader) -> datetime:
    try:
        return datetime.strptime(when.split()[0], "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise reader.refusal("current_time", "a day such as 2025-12-24 (Wednesday)", repr(when)) from None


def write_miniature(root: Path) -> None:
    """Write two persons with a few sessions in RealMem's layout."""
    topics = ("bread", "guitar", "garden", "train", "harbour", "chess", "tea", "rowing")
    (root / "dataset").mkdir(parents=True)
    for person in ("Ada_Byron", "Ben_Okri"):
        sessions = []
        for day, topic in enumerate(topics, 1):
            turns: list[dict[str, Any]] = [{"speaker": "User", "is_query": False, "content": f"I like {topic}."}]
            if day > 1:
                turns[0] |= {
                    "is_query": True,
                    "query_id": f"Q-{day - 1:04d}",
                    "category_name": "Dynamic Updating" if day % 2 else "Dynamic Incremental",
                    "content": f"What of {topics[day - 2]}, now that I like {topic}?",
                }
            reply = {"speaker": "Assistant", "is_query": False, "content": "Go on."}
            turns.append(reply | {"memory_session_uuids": [f"{day - 1:08x}"] if day > 1 else []})
            date = f"2025-12-{day:02d} (Monday)"
            sessions.append({"session_uuid": f"{day:08x}", "current_time": date, "dialogue_turns": turns})
        document = {"_metadata": {"person_name": person}, "dialogues": sessions}
        (root / "dataset" / f"{person}{SUFFIX}").write_text(json.dumps(document), encoding="utf-8")


CORPORA: tuple[CorpusEntry, ...] = (
    release_entry("realmem", REGISTERED, RealMem, write_miniature, licence=LICENCE, worth=WORTH, timed=True),
)
