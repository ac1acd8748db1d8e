"""LoCoMo: ten long conversations, one segment per dialog session, questions with evidence in some of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recallbench.corpora import evidence
from recallbench.corpora.census import Census, Oddities
from recallbench.corpora.place import Place, described
from recallbench.corpora.records import Haystack, Question, Segment, Survey, unheard
from recallbench.corpora.stream import Stream
from recallbench.protocol.rules import CorpusRules

WITH_EVIDENCE, ALL, NON_ADVERSARIAL = DENOMINATORS = ("with-evidence", "all", "non-adversarial")
"""Questions with evidence, the protocol's count; all of the file; those with evidence that aren't adversarial."""

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


class Locomo:
    """A file in LoCoMo's shape. A question is answered from its own conversation alone."""

    clustered = True
    clarifications: tuple[int, ...] = (2, 3, 4, 5, 10, 13)

    def __init__(
        self,
        path: Path,
        rules: CorpusRules,
        *,
        kinds: Mapping[int, str],
        repairs: Mapping[str, tuple[int, ...]],
    ) -> None:
        self.name = rules.name
        self.rules = rules
        self._kinds = kinds
        self._repairs = repairs
        self._stream = Stream(path, rules.name)
        self._surveyed: tuple[Haystack, ...] = ()

    @property
    def path(self) -> Path:
        return self._stream.path

    @property
    def sha256(self) -> str:
        return self._stream.sha256

    def survey(self, listen: Callable[[Haystack], None] = unheard) -> Survey:
        sha256 = self._stream.sha256
        census, oddities = Census(), Oddities()
        # A few megabytes: kept, so that the file is parsed once. LongMemEval is a hundred times larger and never is.
        self._surveyed = tuple(self._read(oddities))
        for haystack in self._surveyed:
            census.count(haystack)
            listen(haystack)
        return census.survey(self.path, sha256, self.rules, oddities, DENOMINATORS)

    def haystacks(self) -> Iterator[Haystack]:
        return iter(self._surveyed) if self._surveyed else self._read(Oddities())

    def _read(self, oddities: Oddities) -> Iterator[Haystack]:
        seen: set[str] = set()
        for number, record in enumerate(self._stream.items(), start=1):
            place = Place(self.name, str(self.path), f"conversation {number}")
            scope = place.identifier(record, "sample_id")
            if scope in seen:
                raise place.refusal("sample_id", "an id that no other conversation has", f"{scope} again")
            seen.add(scope)
            place = Place(self.name, str(self.path), f"conversation {scope}")
            dialog = _dialog(scope, place.table(record, "conversation"), place, oddities)
            questions: list[Question] = []
            marked: dict[int, set[int]] = {}
            for index, asked in enumerate(place.entries(record, "qa")):
                questions.append(self._question(scope, index, asked, dialog, marked, place, oddities))
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
        place: Place,
        oddities: Oddities,
    ) -> Question:
        name = f"{scope}/q{index}"
        here = replace(place, item=f"question {name}")
        text = here.text(record, "question")
        category = here.number(record, "category")
        if category not in self._kinds:
            known = ", ".join(f"{number} ({kind})" for number, kind in self._kinds.items())
            raise here.refusal("category", f"one of {known}", str(category))
        gold: set[int] = set()
        for reference in here.words(record, "evidence"):
            found = evidence.read(reference, self._repairs, here)
            oddities.repaired_evidence += found.repaired
            for session in found.sessions:
                if session not in dialog.positions:
                    raise here.refusal(
                        "evidence",
                        f"a session of conversation {scope}, which has {_numbers(dialog.positions)}",
                        f"unreachable gold: {reference!r} points at session {session}",
                    )
                gold.add(dialog.positions[session])
            for turn in found.turns:
                if turn in dialog.turns:
                    position, start = dialog.turns[turn]
                    marked.setdefault(position, set()).add(start)
                else:
                    oddities.missing_turns += 1
        kind = self._kinds[category]
        counted = {ALL}
        if gold:
            counted |= {WITH_EVIDENCE} if kind == "adversarial" else {WITH_EVIDENCE, NON_ADVERSARIAL}
        return Question(scope, name, text, frozenset(gold), kind, cluster=scope, denominators=frozenset(counted))


def _dialog(scope: str, conversation: dict[str, Any], place: Place, oddities: Oddities) -> _Dialog:
    # A date without a list of turns announces a session that the file doesn't hold.
    numbers = sorted({int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key))})
    if not numbers:
        raise place.refusal("conversation", "at least one session_<number>", "no session")
    segments: list[Segment] = []
    starts: dict[str, tuple[int, int]] = {}
    for position, number in enumerate(numbers):
        key = f"session_{number}"
        here = place.inside(key)
        when = place.text(conversation, f"{key}_date_time")
        lines, length, blank = [f"[{when}]"], len(when) + 2, 0
        for turn_number, turn in enumerate(place.entries(conversation, key), start=1):
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
            raise place.refusal(key, "at least one turn with text", f"{turns} turns, none with text")
        text = place.storable(key, "\n".join(lines))
        oddities.turns += turns
        oddities.empty_turns += blank
        segments.append(Segment(scope, position, text, _instant(when, f"{key}_date_time", place), key))
    return _Dialog(tuple(segments), {number: position for position, number in enumerate(numbers)}, starts)


def _bad_turn(turn: Any, place: Place) -> Exception:
    """Asks again field by field, so that the refusal names the one that is wrong."""
    for field in ("speaker", "text", "dia_id"):
        place.string(turn, field)
    return place.refusal("text", "a turn with speaker, text and dia_id", described(turn))


def _instant(when: str, field: str, place: Place) -> datetime:
    match = _WHEN.fullmatch(when)
    if match and match[5] in _MONTHS:
        hour = int(match[1]) % 12 + (12 if match[3] == "pm" else 0)
        try:
            month = _MONTHS.index(match[5]) + 1
            return datetime(int(match[6]), month, int(match[4]), hour, int(match[2]), tzinfo=UTC)
        except ValueError:
            pass
    raise place.refusal(field, "a time such as 1:56 pm on 8 May, 2023", described(when))


def _numbers(positions: Mapping[int, int]) -> str:
    return ", ".join(str(number) for number in positions)
