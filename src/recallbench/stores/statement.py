"""What a store says of itself in every result, declared by the store: results are held to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

Known = Mapping[str, tuple[str, str]]
"""By group: where else the same thing is told, and what is told there."""
LONGEST = 80
"""Characters of what was found that a finding shows."""


class Statement(NamedTuple):
    """Patterns, each of a whole text: of the version, and by name of settings and evidence.

    A named group is one thing: wherever it stands it must be the same text.
    """

    version: str
    settings: Mapping[str, str]
    evidence: Mapping[str, str]
    further_settings: Mapping[str, str] = {}
    """Settings that may be there, too: patterns of their names, with those of their values."""
    further_evidence: Mapping[str, str] = {}
    """Evidence that may be there, too."""


class Said(NamedTuple):
    """What a result says of its store."""

    version: str
    settings: Mapping[str, str]
    evidence: Mapping[str, str]


def exactly(values: Mapping[str, str]) -> dict[str, str]:
    """The patterns of these very values."""
    return {name: re.escape(value) for name, value in values.items()}


def contradictions(statements: Sequence[Statement], said: Said, known: Known) -> list[str]:
    """Where it parts from the statement that it comes nearest to; nothing where there is none to hold it to."""
    return min((list(_parting(one, said, known)) for one in statements), key=len, default=[])


def _parting(statement: Statement, said: Said, known: Known) -> Iterator[str]:
    heard = dict(known)
    yield from _told(heard, "the version", statement.version, said.version)
    parts = (
        ("setting", said.settings, statement.settings, statement.further_settings),
        ("evidence", said.evidence, statement.evidence, statement.further_evidence),
    )
    for kind, told, always, further in parts:
        yield from (f"no {kind} {name}" for name in always if name not in told)
        for name, text in told.items():
            pattern = always.get(name) or next((of for names, of in further.items() if re.fullmatch(names, name)), None)
            if pattern is None:
                yield f"{kind} {_short(name)}, which this store never states"
            else:
                yield from _told(heard, f"{kind} {_short(name)}", pattern, text)


def _told(heard: dict[str, tuple[str, str]], place: str, pattern: str, text: str) -> Iterator[str]:
    found = re.fullmatch(pattern, text, re.DOTALL)
    if found is None:
        yield f"{place} {_short(text)}, which no run with these options states"
        return
    for group, value in found.groupdict().items():
        before, other = heard.setdefault(group, (place, value))
        if other != value:
            yield f"{place} tells of {_short(value)}, {before} of {_short(other)}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
