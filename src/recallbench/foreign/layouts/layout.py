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
    """One question as the folder states it: ids are the folder's own."""

    id: str
    gold: tuple[str, ...]
    ranked: tuple[str, ...]
    scores: tuple[float, ...] = ()
    """Beside `ranked`; empty where none were kept."""
    scope: str = ""
    """The haystack it may be answered from; empty where the folder doesn't say."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Each grouping the row states, such as its category, with this question's label."""
    text: str = ""
    index: int | None = None
    """Its number in the dataset's file, where the row states one."""
    abstention: bool = False
    denominators: frozenset[str] = frozenset()
    """The named denominators that count it, where the row states them."""
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
    """As published."""
    value: float
    where: str
    """File and place in it."""
    slice: str = ""
    """The part of the questions it speaks of; empty for all."""
    n: int | None = None
    low: float | None = None
    high: float | None = None
    quoted: bool = False
    """It is of another run, whose rows are not here."""
    decimals: int | None = None
    """How many were printed, where the value doesn't show it."""


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
    """Something that may be a claim, in a form that is not read."""

    where: str
    shown: str
    quoted: bool = False
    """It is of another run."""


@dataclass(frozen=True, slots=True)
class ReportText:
    """A text of the folder, and where it stands."""

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
    """What it states of itself: dataset_sha256, version, …"""
    unstated: tuple[str, ...]
    """What this layout, or this folder, leaves unsaid."""
    depth: int = 0
    """How many ids a row keeps at most; 0 where rankings were kept whole."""
    rows: str = ""
    """The file the rankings were read from."""
    corpus: str = ""
    """The corpus they are over, as far as the folder tells."""
    counts: tuple[Count, ...] = ()
    unread: tuple[Unread, ...] = ()
    graded: bool = False
    """Rows state grades, which nDCG was taken from."""
    short_depth: int = 0
    """The depth of the shallower of two calls to the store; 0 where there was one call."""


@dataclass(frozen=True, slots=True)
class Layout:
    """One way of writing results down."""

    name: str
    description: str
    recognises: Callable[[Path], bool]
    """Whether a folder looks like it; reads little and refuses nothing."""
    read: Callable[[Path], Imported]
    """Raises InputError, naming file and line, for what can't be read."""


@dataclass(frozen=True, slots=True)
class JsonFields:
    """An object of a JSON file, whose fields are of the right type or refused with file and line."""

    path: Path
    line: int
    fields: Mapping[str, Any]

    def refusal(self, field: str, expected: str, found: str) -> InputError:
        """The error that says what is wrong with a field of this row."""
        return InputError(
            f"{self.path}, line {self.line}: field {field}",
            expected=expected,
            found=found,
            remedy="get the file again from where it was made, or make it again",
        )

    def one_of(self, names: Sequence[str]) -> str:
        """The first of these fields that is there; refused where none is."""
        present = next((name for name in names if name in self.fields), None)
        if present is None:
            raise self.refusal(names[0], f"one of {', '.join(names)}", "none of them")
        return present

    def ids(self, name: str) -> tuple[str, ...]:
        """A field that holds a list of ids."""
        value = self.fields.get(name)
        if not isinstance(value, list):
            raise self.refusal(name, "a list of ids", shown(value))
        for one in value:
            if isinstance(one, bool) or not isinstance(one, (str, int)):
                raise self.refusal(name, "a list of ids", f"in it {shown(one)}")
        return tuple(str(one) for one in value)

    def text(self, name: str) -> str:
        """A field that holds a text or a number; empty where it is missing."""
        value = self.fields.get(name)
        if value is None:
            return ""
        if isinstance(value, (bool, list, dict)):
            raise self.refusal(name, "a text", shown(value))
        return str(value)

    def whole(self, name: str) -> int | None:
        """A field that holds a whole number, 0 or more; None where it is missing or null."""
        value = self.fields.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.refusal(name, "a whole number, 0 or more", shown(value))
        return value

    def number(self, name: str) -> float | None:
        """A field that holds a finite number; None where it is missing or null."""
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
