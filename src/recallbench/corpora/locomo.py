"""LoCoMo: ten long conversations, one segment per dialog session, questions with evidence in some of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from recallbench.corpora.census import Oddities
from recallbench.corpora.entry import CorpusEntry
from recallbench.corpora.evidence import parse_evidence
from recallbench.corpora.field_reader import FieldReader, describe
from recallbench.corpora.file_corpus import FileCorpus
from recallbench.corpora.miniature import write_locomo
from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.corpora.sources import from_github
from recallbench.corpora.stream import Stream

WITH_EVIDENCE, ALL, NON_ADVERSARIAL = DENOMINATORS = ("with-evidence", "all", "non-adversarial")
"""Questions with evidence, the protocol's count; all of the file; those with evidence that aren't adversarial."""

ADVERSARIAL = "adversarial"
"""The kind of questions that rest on something that nobody said: the right answer declines."""
_SESSION = re.compile(r"session_([0-9]+)")
_WHEN = re.compile(r"([0-9]{1,2}):([0-9]{2}) ([ap]m) on ([0-9]{1,2}) ([A-Z][a-z]+), ([0-9]{4})")
_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class _Dialog:
    """The sessions of one conversation, as evidence finds them."""

    segments: tuple[Segment, ...]
    positions: Mapping[int, int]
    """Session number to position."""
    turns: Mapping[str, tuple[int, int]]
    """Dialog id to position and the character where the turn starts."""


class Locomo(FileCorpus):
    """A file in LoCoMo's shape. A question is answered from its own conversation alone."""

    clustered = True
    clarifications = (2, 3, 4, 5, 10, 13)
    denominators = DENOMINATORS
    small = True  # a few megabytes; LongMemEval is a hundred times larger and never kept

    def read(self, stream: Stream, oddities: Oddities) -> Iterator[Haystack]:
        seen: set[str] = set()
        for number, record in enumerate(stream.items(), start=1):
            reader = FieldReader(self.name, str(self.path), f"conversation {number}")
            scope = reader.identifier(record, "sample_id")
            if scope in seen:
                raise reader.refusal("sample_id", "an id that no other conversation has", f"{scope} again")
            seen.add(scope)
            reader = FieldReader(self.name, str(self.path), f"conversation {scope}")
            dialog = _dialog(scope, reader.table(record, "conversation"), reader, oddities)
            questions: list[Question] = []
            marked: dict[int, set[int]] = {}
            for index, entry in enumerate(reader.entries(record, "qa")):
                questions.append(self._question(scope, index, entry, dialog, marked, reader, oddities))
            segments = tuple(
                replace(segment, gold_turns=tuple(sorted(marked.get(segment.position, ()))))
                for segment in dialog.segments
            )
            yield Haystack(scope, segments, tuple(questions))

    def _question(
        self,
        scope: str,
        index: int,
        record: Any,
        dialog: _Dialog,
        marked: dict[int, set[int]],
        reader: FieldReader,
        oddities: Oddities,
    ) -> Question:
        name = f"{scope}/q{index}"
        here = replace(reader, item=f"question {name}")
        text = here.text(record, "question")
        category = here.number(record, "category")
        if category not in self.rules.locomo_kinds:
            known = ", ".join(f"{number} ({kind})" for number, kind in self.rules.locomo_kinds.items())
            raise here.refusal("category", f"one of {known}", str(category))
        gold: set[int] = set()
        for reference in here.words(record, "evidence"):
            evidence = parse_evidence(reference, self.rules.evidence_repairs, here)
            oddities.repaired_evidence += evidence.repaired
            for session in evidence.sessions:
                if session not in dialog.positions:
                    raise here.refusal(
                        "evidence",
                        f"a session of conversation {scope}, which has {_numbers(dialog.positions)}",
                        f"unreachable gold: {reference!r} points at session {session}",
                    )
                gold.add(dialog.positions[session])
            for turn in evidence.turns:
                if turn in dialog.turns:
                    position, start = dialog.turns[turn]
                    marked.setdefault(position, set()).add(start)
                else:
                    oddities.names_nothing(turn, name)
        kind = self.rules.locomo_kinds[category]
        counted = {ALL}
        if gold:
            counted |= {WITH_EVIDENCE} if kind == ADVERSARIAL else {WITH_EVIDENCE, NON_ADVERSARIAL}
        return Question(
            scope,
            name,
            text,
            frozenset(gold),
            kind,
            cluster=scope,
            denominators=frozenset(counted),
            answer=here.answer(record),
            declined=kind == ADVERSARIAL,
        )


def _dialog(scope: str, conversation: dict[str, Any], reader: FieldReader, oddities: Oddities) -> _Dialog:
    # A date without a list of turns announces a session that the file doesn't hold.
    numbers = sorted({int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key))})
    if not numbers:
        raise reader.refusal("conversation", "at least one session_<number>", "no session")
    segments: list[Segment] = []
    starts: dict[str, tuple[int, int]] = {}
    for position, number in enumerate(numbers):
        key = f"session_{number}"
        here = reader.inside(key)
        when = reader.text(conversation, f"{key}_date_time")
        lines, length, blank = [f"[{when}]"], len(when) + 2, 0
        for turn_number, turn in enumerate(reader.entries(conversation, key), start=1):
            try:
                spoken = turn["text"]
                line = turn["speaker"] + ": " + spoken
                starts[turn["dia_id"] + ""] = (position, length + 1)
                blank += not spoken.strip()
            except (KeyError, TypeError, AttributeError):
                raise _bad_turn(turn, here.inside(f"turn {turn_number}")) from None
            lines.append(line)
            length += 1 + len(line)
        turns = len(lines) - 1
        if blank == turns:
            raise reader.refusal(key, "at least one turn with text", f"{turns} turns, none with text")
        text = reader.storable(key, "\n".join(lines))
        oddities.turns += turns
        oddities.empty_turns += blank
        segments.append(Segment(scope, position, text, _instant(when, f"{key}_date_time", reader), key))
    return _Dialog(tuple(segments), {number: position for position, number in enumerate(numbers)}, starts)


def _bad_turn(turn: Any, reader: FieldReader) -> Exception:
    """Asks again field by field, so that the refusal names the one that is wrong."""
    for field in ("speaker", "text", "dia_id"):
        reader.string(turn, field)
    return reader.refusal("text", "a turn with speaker, text and dia_id", describe(turn))


def session_time(when: str) -> datetime | None:
    """Return the time that a session's date states, such as 1:56 pm on 8 May, 2023; None for another form."""
    match = _WHEN.fullmatch(when)
    if match and match[5] in _MONTHS:
        hour = int(match[1]) % 12 + (12 if match[3] == "pm" else 0)
        try:
            month = _MONTHS.index(match[5]) + 1
            return datetime(int(match[6]), month, int(match[4]), hour, int(match[2]), tzinfo=UTC)
        except ValueError:
            pass
    return None


def _instant(when: str, field: str, reader: FieldReader) -> datetime:
    time = session_time(when)
    if time is None:
        raise reader.refusal(field, "a time such as 1:56 pm on 8 May, 2023", describe(when))
    return time


def _numbers(positions: Mapping[int, int]) -> str:
    return ", ".join(str(number) for number in positions)


CORPORA = (
    CorpusEntry(
        "locomo",
        lambda rules: rules.corpora["locomo"],
        Locomo,
        write_locomo,
        clustered=Locomo.clustered,
        unit="session",
        licence="CC BY-NC 4.0",
        download=from_github,
    ),
)
