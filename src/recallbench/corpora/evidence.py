"""The turns that LoCoMo's evidence strings point at (clarifications 4 and 13)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from recallbench.corpora.field_reader import FieldReader

PLAIN = re.compile(r"D([0-9]+):[0-9]+")
TURN = re.compile(r"D:?([0-9]+):([0-9]+)")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The sessions and turns that one evidence string names."""

    sessions: tuple[int, ...]
    turns: tuple[str, ...]
    repaired: bool


def parse_evidence(reference: str, repairs: Mapping[str, tuple[int, ...]], reader: FieldReader) -> Evidence:
    """A plain `D<session>:<turn>`, or a string whose repair is listed; anything else is refused, not guessed at."""
    if plain := PLAIN.fullmatch(reference):
        return Evidence((int(plain[1]),), (reference,), repaired=False)
    if reference in repairs:
        turns = tuple(f"D{int(session)}:{turn}" for session, turn in TURN.findall(reference))
        return Evidence(tuple(repairs[reference]), turns, repaired=True)
    raise reader.refusal(
        "evidence",
        "D<session>:<turn>, or a string whose repair the protocol lists",
        repr(reference),
        "mend the evidence in the file (a list with one D<session>:<turn> per turn)",
    )
