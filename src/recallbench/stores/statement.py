"""The statement of a store about itself, declared by the store: every result is compared with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from recallbench.escaping.terminal import shortened

KnownValues = Mapping[str, tuple[str, str]]
"""By group: where else a result records the same thing, and its value there."""
LONGEST = 80
"""Characters of a value that a finding shows."""


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


class StoreRecord(NamedTuple):
    """The record of a store in a result."""

    version: str
    settings: Mapping[str, str]
    evidence: Mapping[str, str]


def exactly(values: Mapping[str, str]) -> dict[str, str]:
    """The patterns of these very values."""
    return {name: re.escape(value) for name, value in values.items()}


def contradictions(statements: Sequence[Statement], record: StoreRecord, known: KnownValues) -> list[str]:
    """Return where a record differs from the statement that it comes nearest to; nothing without any statement."""
    return min((list(_differences(statement, record, known)) for statement in statements), key=len, default=[])


def _differences(statement: Statement, record: StoreRecord, known: KnownValues) -> Iterator[str]:
    values = dict(known)
    yield from _mismatches(values, "the version", statement.version, record.version)
    parts = (
        ("setting", record.settings, statement.settings, statement.further_settings),
        ("evidence", record.evidence, statement.evidence, statement.further_evidence),
    )
    for kind, recorded, always, further in parts:
        yield from (f"no {kind} {name}" for name in always if name not in recorded)
        for name, text in recorded.items():
            pattern = always.get(name) or next((of for names, of in further.items() if re.fullmatch(names, name)), None)
            if pattern is None:
                yield f"{kind} {shortened(name, LONGEST)}, which this store never states"
            else:
                yield from _mismatches(values, f"{kind} {shortened(name, LONGEST)}", pattern, text)


def _mismatches(values: dict[str, tuple[str, str]], field: str, pattern: str, text: str) -> Iterator[str]:
    """Yield where a field breaks its pattern, or a group has another value elsewhere; `values` collects the groups."""
    match = re.fullmatch(pattern, text, re.DOTALL)
    if match is None:
        yield f"{field} {shortened(text, LONGEST)}, which no run with these options states"
        return
    for group, value in match.groupdict().items():
        elsewhere, other = values.setdefault(group, (field, value))
        if other != value:
            yield f"{field} tells of {shortened(value, LONGEST)}, {elsewhere} of {shortened(other, LONGEST)}"
