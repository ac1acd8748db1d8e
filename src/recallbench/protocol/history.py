"""HISTORY.md, read: dated entries, and the deviations they put on record."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from recallbench.errors import InputError
from recallbench.protocol.deviations import KINDS, SUBSTITUTIONS, Deviation

_HEADING = re.compile(r"^## +(.*)$")
_DATED = re.compile(r"(\d{4}-\d{2}-\d{2}): +(\S.*)")
_RECORD = re.compile(r"^(?:- )?Deviation: *(.*)$")
_NAMED = re.compile(r"(?P<kind>[a-z]+)(?: (?!on\b)(?P<what>\S+))?(?: on (?P<corpus>\S+))?")


@dataclass(frozen=True, slots=True)
class Record:
    """One line `- Deviation: <kind> <what> on <corpus>` of an entry."""

    name: str
    """As `Deviation.name` has it."""
    corpus: str
    """The corpus it is recorded for; empty means every corpus."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What happened on a day."""

    dated: date
    title: str
    body: str
    records: tuple[Record, ...]


def entries(text: str) -> tuple[Entry, ...]:
    """The entries of a HISTORY.md in their order; raises InputError on a heading or record that can't be read."""
    found: list[Entry] = []
    heading: tuple[date, str] | None = None
    lines: list[str] = []
    records: list[Record] = []

    def close() -> None:
        if heading is not None:
            found.append(Entry(*heading, "\n".join(lines).strip(), tuple(records)))

    for number, line in enumerate(_unfenced(text), 1):
        if match := _HEADING.match(line):
            close()
            heading, lines, records = _heading(match[1], number), [], []
        elif match := _RECORD.match(line):
            if heading is None:
                raise InputError(
                    f"HISTORY.md, line {number}: a deviation is recorded before the first dated entry",
                    expected="a heading `## YYYY-MM-DD: title` above it",
                    found=line,
                )
            records.append(_record(match[1], number))
        else:
            lines.append(line)
    close()
    return tuple(found)


def deviations_named(text: str, corpus: str | None = None) -> frozenset[str]:
    """Names of the deviations on record in a HISTORY.md: for one corpus, or for any."""
    return frozenset(
        record.name
        for entry in entries(text)
        for record in entry.records
        if corpus in (None, record.corpus) or not record.corpus
    )


def unrecorded(deviations: Iterable[Deviation], text: str, corpus: str) -> tuple[Deviation, ...]:
    """Those of a run's deviations that HISTORY.md does not record for its corpus."""
    named = deviations_named(text, corpus)
    return tuple(deviation for deviation in deviations if deviation.name not in named)


def _unfenced(text: str) -> list[str]:
    """The lines, those of code blocks emptied: an example is not a record."""
    fenced, kept = False, []
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
            kept.append("")
        else:
            kept.append("" if fenced else line)
    return kept


def _heading(text: str, number: int) -> tuple[date, str]:
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


def _record(text: str, number: int) -> Record:
    match = _NAMED.fullmatch(text.strip())
    if match and match["kind"] in KINDS and (match["kind"] in SUBSTITUTIONS) == bool(match["what"]):
        return Record(f"{match['kind']} {match['what'] or ''}".strip(), match["corpus"] or "")
    raise InputError(
        f"HISTORY.md, line {number}: this record of a deviation can't be read",
        expected="`- Deviation: <kind> on <corpus>`, with a name after the kind for "
        f"{', '.join(sorted(SUBSTITUTIONS))}; kinds are {', '.join(KINDS)}",
        found=f"Deviation: {text}",
        remedy="write it as `- Deviation: embedder minilm on locomo`, or `- Deviation: limit on locomo`",
    )
