"""The corpora outside the protocol, read from their publishers' files.

Plain Python on purpose: what `src/recallbench/corpora` makes of the same files is held against this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """A question, with the places of its gold and how many segments were there when it was asked."""

    id: str
    text: str
    kind: str
    gold: frozenset[int]
    visible: int


class Talk(NamedTuple):
    """A haystack: its segments' texts in their order, and its questions."""

    scope: str
    texts: list[str]
    questions: list[Asked]


def load(path: Path) -> Any:
    """Return what a file says."""
    return json.loads(path.read_text(encoding="utf-8"))


def realmem(folder: Path) -> Iterator[Talk]:
    """Yield a talk per person; a question sees the sessions before its own."""
    for path in sorted((folder / "dataset").glob("*_256k.json")):
        scope = path.name.removesuffix("_dialogues_256k.json")
        sessions = load(path)["dialogues"]
        place = {session["session_uuid"]: i for i, session in enumerate(sessions)}
        texts, questions = [], []
        for i, session in enumerate(sessions):
            turns = session["dialogue_turns"]
            said = "".join(f"\n{turn['speaker']}: {turn['content']}" for turn in turns)
            texts.append(f"[{session['current_time']}]{said}")
            for turn, reply in zip(turns, [*turns[1:], None], strict=True):
                if turn.get("is_query"):
                    gold = frozenset(place[uuid] for uuid in reply["memory_session_uuids"] if place[uuid] < i)
                    id = f"{scope}/{turn['query_id']}"
                    questions.append(Asked(id, turn["content"], turn["category_name"], gold, i))
        yield Talk(scope, texts, questions)


def _conversations(folder: Path) -> Iterator[tuple[str, dict[int, tuple[str, list[Any]]], list[Any]]]:
    """Yield each conversation's name, its sessions by number (time and turns) and its questions."""
    for path in sorted((folder / "data").glob("Chat_*.json"), key=lambda path: int(path.name.split("_")[1])):
        chat = load(path)
        numbers = sorted(int(key[8:]) for key in chat if re.fullmatch(r"session_\d+", key))
        sessions = {n: (chat[f"session_{n}_date_time"], chat[f"session_{n}"]) for n in numbers}
        yield path.stem, sessions, chat["qa"]


def _references(question: Any) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in re.findall(r"D(\d+):(\d+)", str(question["evidence"]))]


KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain"}


def realtalk(folder: Path, *, by_number: bool = False) -> Iterator[Talk]:
    """Yield a talk per conversation, a segment per session.

    `D4:2` is the turn of that id wherever it stands, and a turn that was taken out stood where the one before it
    stands. With `by_number` it is any turn of session_4.
    """
    for scope, sessions, asked in _conversations(folder):
        numbers = list(sessions)
        texts = [
            f"[{time}]" + "".join(f"\n{turn['speaker']}: {turn['clean_text']}" for turn in turns)
            for time, turns in sessions.values()
        ]
        standing = {
            (int(a), int(b)): i
            for i, (_, turns) in enumerate(sessions.values())
            for a, b in [turn["dia_id"][1:].split(":") for turn in turns]
        }

        def place(dialog: int, turn: int, numbers: list[int] = numbers, standing: Any = standing) -> int | None:
            if by_number:
                return numbers.index(dialog) if dialog in numbers else None
            there = {number: i for (other, number), i in standing.items() if other == dialog}
            before = [number for number in there if number <= turn]
            return there[max(before) if before else min(there)] if there else None

        questions = []
        for i, question in enumerate(asked):
            gold = frozenset(place(*reference) for reference in _references(question)) - {None}
            kind = KINDS[question["category"]]
            questions.append(Asked(f"{scope}#{i}", question["question"], kind, gold, len(texts)))
        yield Talk(scope, texts, questions)


def realtalk_turns(folder: Path) -> Iterator[Talk]:
    """Yield a talk per conversation, a segment per turn; evidence that was taken out is no gold."""
    for scope, sessions, asked in _conversations(folder):
        turns = [turn for _, some in sessions.values() for turn in some]
        standing = {turn["dia_id"]: i for i, turn in enumerate(turns)}
        questions = []
        for i, question in enumerate(asked):
            names = [f"D{a}:{b}" for a, b in _references(question)]
            gold = frozenset(standing[name] for name in names if name in standing)
            questions.append(Asked(f"{scope}#{i}", question["question"], KINDS[question["category"]], gold, len(turns)))
        yield Talk(scope, [f"{turn['speaker']}: {turn['clean_text']}" for turn in turns], questions)


def _ids(named: Any) -> set[int]:
    if isinstance(named, int):
        return {named}
    return {id for entry in (named.values() if isinstance(named, dict) else named or ()) for id in _ids(entry)}


def beam(folder: Path, size: str) -> Iterator[Talk]:
    """Yield a talk per chat, a segment per exchange."""
    for chat in sorted((folder / "chats" / size).iterdir(), key=lambda path: int(path.name)):
        shorter = chat / "chat_trunecated.json"
        batches = load(shorter if shorter.exists() else chat / "chat.json")
        lines: list[list[str]] = []
        place: dict[int, int] = {}
        for message in [message for batch in batches for turn in batch["turns"] for message in turn]:
            said = message["content"]
            if message["role"] == "user":
                said = said.split("->->")[0].rstrip()
                lines.append([f"[{message['time_anchor']}]"] if message.get("time_anchor") else [])
            lines[-1].append(f"{message['role']}: {said}")
            place[message["id"]] = len(lines) - 1
        questions = []
        for kind, probes in load(chat / "probing_questions" / "probing_questions.json").items():
            for i, probe in enumerate(probes):
                gold = frozenset(place[id] for id in _ids(probe.get("source_chat_ids")))
                questions.append(Asked(f"{chat.name}/{kind}#{i}", probe["question"], kind, gold, len(lines)))
        yield Talk(chat.name, ["\n".join(some) for some in lines], questions)


def read(corpus: str, folder: Path) -> list[Talk]:
    """Return the talks of a corpus, by the name it has in RecallBench."""
    if corpus.startswith("beam-"):
        return list(beam(folder, corpus.removeprefix("beam-").upper()))
    readers = {"realmem": realmem, "realtalk": realtalk, "realtalk-turns": realtalk_turns}
    return list(readers[corpus](folder))
