"""The nouns of a folder that another tool wrote: its questions and rankings, its published numbers, its layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recallbench.errors import InputError
from recallbench.reading import is_finite


@dataclass(frozen=True, slots=True)
class ImportedQuestion:
    """A question as the folder states it, with the folder's own ids."""

    id: str
    gold: tuple[str, ...]
    ranked: tuple[str, ...]
    scores: tuple[float, ...] = ()
    """The scores of `ranked`; empty where none were kept."""
    scope: str = ""
    """The scope it may be answered from; empty where the folder doesn't say."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """The question's label in each grouping of the row, such as its category."""
    text: str = ""
    index: int | None = None
    """Its number in the dataset's file, where the row states one."""
    abstention: bool = False
    denominators: frozenset[str] = frozenset()
    """The named denominators that count it, as far as the row states them."""
    first: int | None = None
    """The stated rank of the first gold id, 0 for none; None where nothing is stated."""
    stated: Mapping[str, float] = field(default_factory=dict)
    """Figures that the row states of itself, by name."""
    scored: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    """The ranking and the gold behind the stated figures, where they are not those above."""
    haystack: tuple[str, ...] | None = None
    """The ids it may be answered from, where the row lists them."""
    short: tuple[str, ...] | None = None
    """The ranking of the first, shallower of two calls to the store; None where there was one call."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A published number."""

    name: str
    """The name as published."""
    value: float
    where: str
    """The file, and the place in it."""
    slice: str = ""
    """The part of the questions it is over; empty for all."""
    n: int | None = None
    low: float | None = None
    high: float | None = None
    quoted: bool = False
    """Whether it is of another run, whose rows are not here."""
    decimals: int | None = None
    """The printed decimals, where the value doesn't show them."""


@dataclass(frozen=True, slots=True)
class Count:
    """A published number of questions, segments or the like."""

    name: str
    value: int
    where: str
    slice: str = ""
    """The part of the questions it counts; empty for all."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A possible claim in a form that is not read."""

    where: str
    shown: str
    quoted: bool = False
    """Whether it is of another run."""


@dataclass(frozen=True, slots=True)
class ReportText:
    """A text of the folder, and its place."""

    where: str
    text: str


@dataclass(frozen=True, slots=True)
class Imported:
    """A foreign folder, read."""

    layout: str
    folder: Path
    questions: tuple[ImportedQuestion, ...]
    claims: tuple[Claim, ...]
    facts: Mapping[str, str]
    """The facts it states: dataset_sha256, version, …"""
    unstated: tuple[str, ...]
    """Facts that this layout, or this folder, does not state."""
    depth: int = 0
    """The most ids in a row; 0 where rankings were kept whole."""
    rows: str = ""
    """The file of the rankings."""
    corpus: str = ""
    """The corpus, as far as the folder tells."""
    counts: tuple[Count, ...] = ()
    unread: tuple[Unread, ...] = ()
    graded: bool = False
    """Whether rows state grades, which nDCG was taken from."""
    short_depth: int = 0
    """The depth of the shallower of two calls to the store; 0 where there was one call."""
    gold_stated: bool = True
    """Whether rows state gold; where they don't, only the dataset tells it."""
    by_time: bool = False
    """Whether scopes are numbers of conversations, and ranked ids times of sessions, which only the dataset names."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A format of result folders."""

    name: str
    description: str
    recognises: Callable[[Path], bool]
    """Returns whether a folder without a manifest of this tool looks like it; reads little and raises nothing."""
    read: Callable[[Path], Imported]
    """Returns the folder, read; raises InputError, naming file and line, for what can't be read."""


@dataclass(frozen=True, slots=True)
class JsonFields:
    """An object of a JSON file. Its methods return a field, or raise InputError, naming file and line."""

    path: Path
    line: int
    fields: Mapping[str, Any]
    unit: str = "line"
    """What `line` counts: a list of JSON has rows, not lines."""

    def refusal(self, field: str, expected: str, found: str) -> InputError:
        """Return the error for a field of this row, or for the row where no field is named."""
        return InputError(
            f"{self.path}, {self.unit} {self.line}" + (f": field {field}" if field else ": can't be read"),
            expected=expected,
            found=found,
            remedy="get the file again from where it was made, or make it again",
        )

    def one_of(self, names: Sequence[str]) -> str:
        """Return the first of these fields that is present."""
        present = next((name for name in names if name in self.fields), None)
        if present is None:
            raise self.refusal(names[0], f"one of {', '.join(names)}", "none of them")
        return present

    def ids(self, name: str) -> tuple[str, ...]:
        """Return a list of ids."""
        value = self.fields.get(name)
        if not isinstance(value, list):
            raise self.refusal(name, "a list of ids", shown(value))
        for id in value:
            if isinstance(id, bool) or not isinstance(id, (str, int)):
                raise self.refusal(name, "a list of ids", f"in it {shown(id)}")
        return tuple(str(id) for id in value)

    def text(self, name: str) -> str:
        """Return a text or a number as text; empty where it is missing."""
        value = self.fields.get(name)
        if value is None:
            return ""
        if isinstance(value, (bool, list, dict)):
            raise self.refusal(name, "a text", shown(value))
        return str(value)

    def whole(self, name: str) -> int | None:
        """Return a whole number, 0 or more; None where it is missing or null."""
        value = self.fields.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.refusal(name, "a whole number, 0 or more", shown(value))
        return value

    def required(self, name: str) -> str:
        """Return a text or a number as text, which must be there."""
        value = self.text(name)
        if not value:
            raise self.refusal(name, "a text", shown(self.fields.get(name)))
        return value

    def number(self, name: str) -> float | None:
        """Return a finite number; None where it is missing or null."""
        value = self.fields.get(name)
        if value is None:
            return None
        if not is_finite(value):
            raise self.refusal(name, "a finite number", shown(value))
        return float(value)


def shown(value: object) -> str:
    """Return a value in at most 60 characters."""
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
