"""The dated entries of HISTORY.md, and the deviations they put on record."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from recallbench.errors import InputError, UsageError
from recallbench.protocol.deviations import KINDS, SUBSTITUTIONS, Deviation

NAME = "HISTORY.md"
_HEADING = re.compile(r"^## +(.*)$")
_DATED = re.compile(r"(\d{4}-\d{2}-\d{2}): +(\S.*)")
_RECORD = re.compile(r"^(?:- )?Deviation: *(.*)$")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
_LOOKS_LIKE_MORE = re.compile(r"(?m)^\s{0,3}#{1,2}(?:\s|$)|^[^\n]*\S[^\n]*\n {0,3}(?:=+|-+)[ \t]*$|^\W*Deviation:")
"""Lines that a reader or another program could take for the heading of an entry or for a record."""
_NAMED = re.compile(r"(?P<kind>[a-z]+)(?: (?!on\b)(?P<what>\S+))?(?: on (?P<corpus>\S+))?")


@dataclass(frozen=True, slots=True)
class DeviationRecord:
    """One line `- Deviation: <kind> <what> on <corpus>` of an entry."""

    name: str
    """The same as `Deviation.name`."""
    corpus: str
    """The corpus it is recorded for; empty means every corpus."""

    def __str__(self) -> str:
        return f"{self.name} on {self.corpus}" if self.corpus else self.name


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One dated entry of HISTORY.md."""

    dated: date
    title: str
    body: str
    records: tuple[DeviationRecord, ...]


def entries(text: str) -> tuple[HistoryEntry, ...]:
    """The entries of a HISTORY.md in their order; raises InputError on a heading or record that can't be read."""
    dated_entries: list[HistoryEntry] = []
    heading: tuple[date, str] | None = None
    lines: list[str] = []
    records: list[DeviationRecord] = []

    def close() -> None:
        if heading is not None:
            dated_entries.append(HistoryEntry(*heading, "\n".join(lines).strip(), tuple(records)))

    for number, line in enumerate(_visible_lines(text), 1):
        if match := _HEADING.match(line):
            close()
            heading, lines, records = _parse_heading(match[1], number), [], []
        elif match := _RECORD.match(line):
            if heading is None:
                raise InputError(
                    f"HISTORY.md, line {number}: a deviation is recorded before the first dated entry",
                    expected="a heading `## YYYY-MM-DD: title` above it",
                    found=line,
                )
            records.append(_parse_record(match[1], number))
        else:
            lines.append(line)
    close()
    return tuple(dated_entries)


def deviations_named(text: str, corpus: str | None = None) -> frozenset[str]:
    """Names of the deviations on record in a HISTORY.md: for one corpus, or for any."""
    return frozenset(
        record.name
        for entry in entries(text)
        for record in entry.records
        if corpus in (None, record.corpus) or not record.corpus
    )


def unrecorded(deviations: Iterable[Deviation], text: str, corpus: str) -> tuple[Deviation, ...]:
    """Return those of a run's deviations that HISTORY.md does not record for its corpus."""
    named = deviations_named(text, corpus)
    return tuple(deviation for deviation in deviations if deviation.name not in named)


def nearest(place: Path) -> Path | None:
    """The HISTORY.md of this folder, or of the nearest one above it."""
    place = place.resolve()
    return next((folder / NAME for folder in (place, *place.parents) if (folder / NAME).is_file()), None)


def parse_record(text: str) -> DeviationRecord:
    """Read `<kind> <what> on <corpus>`, the form in which a deviation is recorded; raises UsageError for any other."""
    try:
        return _parse_record(text, 0)
    except InputError as error:
        raise UsageError(
            f"the deviation {text!r} can't be read", expected=error.expected, found=text, remedy=error.remedy
        ) from None


def with_entry(text: str, entry: HistoryEntry) -> str:
    """The text with an entry at its end; raises UsageError for one that repeats, or that would not be read back."""
    before = entries(text)
    for earlier in before:
        if (earlier.dated, earlier.title) == (entry.dated, entry.title):
            raise UsageError(
                f"HISTORY.md has an entry {entry.title!r} of {entry.dated} already",
                expected="an entry that is not there yet",
                remedy="give it another --title: what is written is never rewritten",
            )
    for new in entry.records:
        recorded = next((earlier for earlier in before if any(_covers(old, new) for old in earlier.records)), None)
        if recorded is not None:
            raise UsageError(
                f"the deviation `{new}` is on record already",
                expected="a deviation that no entry names yet",
                found=f"the entry of {recorded.dated}: {recorded.title}",
                remedy="leave it out",
            )
    if before and entry.dated < before[-1].dated:
        raise UsageError(
            "entries are added at the end, oldest first",
            expected=f"a date from {before[-1].dated} on, that of the last entry",
            found=str(entry.dated),
            remedy="give another --date, or none",
        )
    hidden = next((char for char in entry.title + entry.body if not char.isprintable() and char not in "\n\t"), None)
    if hidden is not None:
        raise _unreadable(f"the character {hidden!r}")
    if match := _LOOKS_LIKE_MORE.search(entry.body):
        raise _unreadable(match[0].strip())
    result = f"{text.rstrip()}\n\n{as_markdown(entry)}" if text.strip() else f"# History\n\n{as_markdown(entry)}"
    try:
        read_back = entries(result)
    except InputError as error:
        raise _unreadable(error.found) from None
    if read_back != (*before, entry):
        raise _unreadable("another entry, or none")
    return result


def as_markdown(entry: HistoryEntry) -> str:
    """Return the entry as it stands in the file."""
    parts = [f"## {entry.dated}: {entry.title}", entry.body]
    if entry.records:
        parts.append("\n".join(f"- Deviation: {record}" for record in entry.records))
    return "\n\n".join(part for part in parts if part) + "\n"


def _covers(old: DeviationRecord, new: DeviationRecord) -> bool:
    return old.name == new.name and old.corpus in ("", new.corpus)


def _unreadable(found: str) -> UsageError:
    return UsageError(
        "this entry would not be read back as it was given",
        expected="a title of one line, and a text without headings of the first two levels, records, comments and "
        "code blocks",
        found=found,
        remedy="mend --title or --text; where HISTORY.md itself ends in an open code block, close it",
    )


def _visible_lines(text: str) -> list[str]:
    """The lines, with those of code blocks and HTML comments emptied: an example there is no record."""
    hidden, visible = "", []
    for line in text.splitlines():
        if hidden:
            if hidden in line if hidden == "-->" else line.strip().startswith(hidden):
                hidden = ""
            visible.append("")
        elif fence := _FENCE.match(line):
            hidden = fence[1]
            visible.append("")
        elif "<!--" in line:
            start, _, behind = line.partition("<!--")
            hidden = "" if "-->" in behind else "-->"
            visible.append(start.rstrip())
        else:
            visible.append(line)
    return visible


def _parse_heading(text: str, number: int) -> tuple[date, str]:
    match = _DATED.fullmatch(text.strip())
    try:
        if match:
            return date.fromisoformat(match[1]), match[2]
    except ValueError:
        pass
    raise InputError(
        f"HISTORY.md, line {number}: the heading of an entry has no date that can be read",
        expected="## YYYY-MM-DD: title",
        found=f"## {text}",
        remedy="date the entry",
    )


def _parse_record(text: str, number: int) -> DeviationRecord:
    match = _NAMED.fullmatch(text.strip())
    if match and match["kind"] in KINDS and (match["kind"] in SUBSTITUTIONS) == bool(match["what"]):
        return DeviationRecord(f"{match['kind']} {match['what'] or ''}".strip(), match["corpus"] or "")
    raise InputError(
        f"HISTORY.md, line {number}: this record of a deviation can't be read",
        expected="`- Deviation: <kind> on <corpus>`, with a name after the kind for "
        f"{', '.join(sorted(SUBSTITUTIONS))}; kinds are {', '.join(KINDS)}",
        found=f"Deviation: {text}",
        remedy="write it as `- Deviation: embedder minilm on locomo`, or `- Deviation: limit on locomo`",
    )
