"""BEAM: long chats with an assistant, by exchange, and twenty probing questions on each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from recallbench.corpora.census import Oddities
from recallbench.corpora.entry import CorpusEntry
from recallbench.corpora.field_reader import FieldReader
from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.corpora.release_corpus import ReleaseCorpus, release_entry
from recallbench.corpora.stream import Stream

WITH_EVIDENCE, ALL = DENOMINATORS = ("with-evidence", "all")
ABSTENTION = "abstention"
REGISTERED = Path(__file__).parent / "beam.toml"
WORTH = (
    "Many questions have several gold exchanges, up to 29 (summarization above all), so that recall_any says little: "
    "look at recall_frac and recall_all. instruction_following asks for an instruction that its question does not "
    "mention: similarity alone fails there."
)
PLANNED = "->->"
"""What follows it at the end of a message is a mark of those who planned the chat: nobody said it."""
CHATS = ("chat_trunecated.json", "chat.json")
"""The files of a chat, the first one that is there counts; the publishers spell it so."""
PROBES = "probing_questions/probing_questions.json"
ANSWERS = ("answer", "ideal_response", "ideal_answer", "ideal_summary", "expected_compliance")


class Beam(ReleaseCorpus):
    """Segments are exchanges: what a user said, and the reply to it."""

    denominators = DENOMINATORS

    def read(self, files: Mapping[str, Stream], oddities: Oddities) -> Iterator[Haystack]:
        probes = {name.removesuffix(PROBES): name for name in files if name.endswith(f"/{PROBES}")}
        for folder, probing in sorted(probes.items(), key=lambda entry: _number(entry[0])):
            scope = Path(folder).name
            reader = FieldReader(self.name, str(files[probing].path), f"chat {scope}")
            chat = next((files[folder + name] for name in CHATS if folder + name in files), None)
            if chat is None:
                raise reader.refusal("chat.json", "a chat beside its questions", "none")
            segments, places = _exchanges(scope, chat, replace(reader, file=str(chat.path)), oddities)
            yield Haystack(scope, tuple(segments), tuple(_questions(scope, files[probing].object(), places, reader)))


def _exchanges(
    scope: str, chat: Stream, reader: FieldReader, oddities: Oddities
) -> tuple[list[Segment], dict[int, int]]:
    """Return the segments of a chat, and the position that each message stands in, by the message's id."""
    exchanges: list[tuple[str, list[str]]] = []
    places: dict[int, int] = {}
    for number, batch in enumerate(chat.items(), 1):
        here = reader.inside(f"batch {number}")
        for turn in here.entries(batch, "turns"):
            for message in here.entries({"messages": turn}, "messages"):
                id, role, content = (
                    here.number(message, "id"),
                    here.text(message, "role"),
                    here.string(message, "content"),
                )
                oddities.turns += 1
                oddities.empty_turns += not content.strip()
                if role == "user" or not exchanges:
                    anchor = message.get("time_anchor") if role == "user" else None
                    exchanges.append((anchor if isinstance(anchor, str) else "", []))
                said = content.split(PLANNED)[0].rstrip() if role == "user" else content
                exchanges[-1][1].append(f"{role}: {said}")
                places[id] = len(exchanges) - 1
    segments = []
    for position, (anchor, lines) in enumerate(exchanges):
        text = "\n".join([*([f"[{anchor}]"] if anchor else []), *lines])
        segments.append(Segment(scope, position, reader.storable("content", text), _instant(anchor), str(position)))
    return segments, places


def _questions(
    scope: str, probes: Mapping[str, Any], places: Mapping[int, int], reader: FieldReader
) -> Iterator[Question]:
    for kind in probes:
        for place, record in enumerate(reader.entries(probes, kind)):
            id = f"{scope}/{kind}#{place}"
            here = replace(reader, item=f"question {id}")
            sources = record.get("source_chat_ids") if isinstance(record, dict) else None
            named = list(_ids(sources))
            if unknown := [message for message in named if message not in places]:
                raise here.refusal("source_chat_ids", "ids of messages of the chat", f"unreachable gold: {unknown[0]}")
            gold = frozenset(places[message] for message in named)
            abstains = kind == ABSTENTION
            yield Question(
                scope,
                id,
                here.text(record, "question"),
                gold,
                kind,
                cluster=scope,
                abstention=abstains,
                denominators=frozenset({ALL, WITH_EVIDENCE} if gold else {ALL}),
                answer=next((str(record[name]) for name in ANSWERS if record.get(name)), ""),
                declined=abstains,
            )


def _ids(sources: Any) -> Iterator[Any]:
    """Yield every id in a list, or in the lists of an object, and whatever else stands there."""
    if isinstance(sources, Mapping):
        sources = list(sources.values())
    if isinstance(sources, list):
        for source in sources:
            yield from _ids(source)
    elif sources is not None:
        yield sources


def _number(folder: str) -> tuple[int, str]:
    name = Path(folder).name
    return (int(name) if name.isdecimal() else 0), name


def _instant(anchor: str) -> datetime | None:
    """Return the day of an anchor such as March-15-2024; None for any other, since only some messages have one."""
    try:
        return datetime.strptime(anchor, "%B-%d-%Y").replace(tzinfo=UTC)
    except ValueError:
        return None


def write_miniature(size: str, root: Path) -> None:
    """Write two chats of a few exchanges in BEAM's layout."""
    topics = ("bread", "guitar", "garden", "train", "harbour", "chess")
    for number in (1, 2):
        folder = root / "chats" / size / str(number)
        (folder / PROBES).parent.mkdir(parents=True)
        turns = [
            [
                {"role": "user", "id": 2 * place, "time_anchor": f"May-{place + 1:02d}-2024",
                 "content": f"I spent all day on {topic}. {PLANNED} 1,{place}"},
                {"role": "assistant", "id": 2 * place + 1, "content": "How nice."},
            ]
            for place, topic in enumerate(topics)
        ]  # fmt: skip
        probes = {
            "information_extraction": [
                {"question": f"What did I say about {topic}?", "source_chat_ids": [2 * place], "answer": topic}
                for place, topic in enumerate(topics)
            ],
            ABSTENTION: [{"question": "What did I say about whales?", "ideal_response": "Nothing was said of whales."}],
        }
        (folder / "chat.json").write_text(json.dumps([{"batch_number": 1, "turns": turns}]), encoding="utf-8")
        (folder / PROBES).write_text(json.dumps(probes), encoding="utf-8")


def _entry(size: str) -> CorpusEntry:
    return release_entry(
        f"beam-{size.lower()}", REGISTERED, Beam, partial(write_miniature, size),
        licence="none stated; a derived set on the hub says CC BY-SA 4.0", worth=WORTH,
    )  # fmt: skip


CORPORA = (_entry("100K"), _entry("500K"))
