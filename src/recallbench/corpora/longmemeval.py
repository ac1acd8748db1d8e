"""LongMemEval: each question brings a haystack of sessions of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from recallbench.corpora.census import Oddities
from recallbench.corpora.entry import CorpusEntry
from recallbench.corpora.field_reader import FieldReader, describe
from recallbench.corpora.file_corpus import FileCorpus
from recallbench.corpora.miniature import write_longmemeval
from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.corpora.sources import from_hub
from recallbench.corpora.stream import Stream

ALL, ANSWERABLE, OFFICIAL = DENOMINATORS = ("all", "without-abstention", "official")
"""Every question, the protocol's count; those that have an answer; of these, those with evidence in a user turn."""

ABSTENTION = "_abs"
"""The end of a question's id whose haystack does not hold the answer."""

INFORMATION, REASONING, TIME, UPDATES, ABSTAINING = ABILITIES = (
    "information extraction",
    "multi-session reasoning",
    "temporal reasoning",
    "knowledge updates",
    "abstention",
)
"""The five abilities that the paper tells apart, in its order."""
_ABILITY_OF = {
    "single-session-user": INFORMATION,
    "single-session-assistant": INFORMATION,
    "single-session-preference": INFORMATION,
    "multi-session": REASONING,
    "temporal-reasoning": TIME,
    "knowledge-update": UPDATES,
}

_ABSTAINED, _WITHOUT_EVIDENCE, _ANSWERED = frozenset({ALL}), frozenset({ALL, ANSWERABLE}), frozenset(DENOMINATORS)
_WHEN = re.compile(r"([0-9]{4})/([0-9]{2})/([0-9]{2}) \([A-Z][a-z]{2}\) ([0-9]{2}):([0-9]{2})")


class LongMemEval(FileCorpus):
    """A file in LongMemEval's shape.

    Abstention questions keep the sessions the file names as theirs (the near misses that a memory should find before it
    can abstain), so they count in the headline. Where a haystack lists a session id twice, each position is a segment.
    """

    clarifications = (2, 5, 6, 13)
    denominators = DENOMINATORS

    def read(self, stream: Stream, oddities: Oddities) -> Iterator[Haystack]:
        seen: set[str] = set()
        for number, record in enumerate(stream.items(), start=1):
            reader = FieldReader(self.name, str(self.path), f"item {number}")
            name = reader.identifier(record, "question_id")
            if name in seen:
                raise reader.refusal("question_id", "an id that no other item has", f"{name} again")
            seen.add(name)
            yield _haystack(name, record, FieldReader(self.name, str(self.path), f"item {name}"), oddities)


def ability(kind: str, *, abstention: bool) -> str:
    """Which of the abilities a question of that type asks for; empty for a type that the paper does not name.

    A question whose id ends in `_abs` keeps the type that it was made from, and asks for abstention.
    """
    return ABSTAINING if abstention else _ABILITY_OF.get(kind, "")


def _haystack(name: str, record: dict[str, Any], reader: FieldReader, oddities: Oddities) -> Haystack:
    sessions = reader.entries(record, "haystack_sessions")
    ids = reader.words(record, "haystack_session_ids")
    dates = reader.words(record, "haystack_dates")
    if not sessions:
        raise reader.refusal("haystack_sessions", "at least one session", "none")
    for field, values in (("haystack_session_ids", ids), ("haystack_dates", dates)):
        if len(values) != len(sessions):
            raise reader.refusal(field, f"{len(sessions)}, one per session of haystack_sessions", str(len(values)))
    segments: list[Segment] = []
    user_evidence = False
    for position, (session, turns, when) in enumerate(zip(ids, sessions, dates, strict=True)):
        text, starts, by_user = _session(turns, reader, position, oddities)
        user_evidence |= by_user
        occurred_at = _instant(when, f"haystack_dates[{position}]", reader)
        segments.append(Segment(name, position, text, occurred_at, session, starts))
    oddities.repeated_sessions += len(ids) - len(set(ids))
    return Haystack(name, tuple(segments), (_question(name, record, ids, segments, user_evidence, reader),))


def _session(turns: Any, reader: FieldReader, position: int, oddities: Oddities) -> tuple[str, tuple[int, ...], bool]:
    """Text of a session, where its evidence turns start, and whether a user turn is among these."""
    field = f"haystack_sessions[{position}]"
    if not isinstance(turns, list):
        raise reader.refusal(field, "a list of turns", describe(turns))
    starts: list[int] = []
    length, blank, by_user = 0, 0, False
    lines: list[str] = []
    for number, turn in enumerate(turns):
        try:
            content = turn["content"]
            line = turn["role"] + ": " + content
            blank += not content.strip()
            evident = turn.get("has_answer", False)
        except (KeyError, TypeError, AttributeError):
            raise _bad_turn(turn, reader.inside(f"{field}[{number}]")) from None
        if evident is True:
            starts.append(length)
            by_user |= turn["role"] == "user"
        elif evident not in (False, None):
            raise reader.inside(f"{field}[{number}]").refusal("has_answer", "true or false", describe(evident))
        lines.append(line)
        length += len(line) + 1
    if blank == len(lines):
        raise reader.refusal(field, "at least one turn with text", f"{len(lines)} turns, none with text")
    oddities.turns += len(lines)
    oddities.empty_turns += blank
    return reader.storable(field, "\n".join(lines)), tuple(starts), by_user


def _question(
    name: str,
    record: dict[str, Any],
    ids: list[str],
    segments: list[Segment],
    user_evidence: bool,
    reader: FieldReader,
) -> Question:
    text = reader.text(record, "question")
    kind = reader.identifier(record, "question_type")
    asked_at = _instant(reader.text(record, "question_date"), "question_date", reader)
    answers = set(reader.words(record, "answer_session_ids"))
    if unreachable := answers - set(ids):
        raise reader.refusal(
            "answer_session_ids",
            "ids that haystack_session_ids lists",
            f"unreachable gold: {', '.join(sorted(unreachable))}",
        )
    gold = frozenset(position for position, session in enumerate(ids) if session in answers)
    abstention = name.endswith(ABSTENTION)
    return Question(
        name,
        name,
        text,
        gold,
        kind,
        asked_at,
        abstention=abstention,
        denominators=_ABSTAINED if abstention else _ANSWERED if user_evidence else _WITHOUT_EVIDENCE,
        answer=reader.answer(record),
        declined=abstention,
        later=frozenset(s.position for s in segments if s.occurred_at is not None and s.occurred_at > asked_at),
    )


def _bad_turn(turn: Any, reader: FieldReader) -> Exception:
    """Asks again field by field, so that the refusal names the one that is wrong."""
    for field in ("role", "content"):
        reader.string(turn, field)
    return reader.refusal("content", "a turn with role and content", describe(turn))


def _instant(when: str, field: str, reader: FieldReader) -> datetime:
    if match := _WHEN.fullmatch(when):
        year, month, day, hour, minute = map(int, match.groups())
        try:
            return datetime(year, month, day, hour, minute, tzinfo=UTC)
        except ValueError:
            pass
    raise reader.refusal(field, "a time such as 2023/05/30 (Tue) 23:40", describe(when))


CORPORA = (
    CorpusEntry(
        "longmemeval",
        lambda rules: rules.corpora["longmemeval"],
        LongMemEval,
        write_longmemeval,
        abilities=ABILITIES,
        ability=ability,
        unit="session",
        licence="MIT",
        download=from_hub,
    ),
)
