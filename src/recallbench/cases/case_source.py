"""Cases in whatever form a user has them: `Case`, dictionaries, tuples, a DataFrame, or a gold file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol

from recallbench.cases.case import SHOWN, Case
from recallbench.cases.files.records import KNOWN, NAMES
from recallbench.corpora.field_reader import misspelling_hint
from recallbench.errors import InputError, UsageError


class Frame(Protocol):
    """A DataFrame of pandas or polars: a row for each case."""

    @property
    def columns(self) -> Any:
        """The names of the fields."""

    def to_dict(self, *args: Any, **options: Any) -> Any:
        """Return what the columns hold."""


Source = Iterable[Case | Mapping[str, Any] | Sequence[Any]] | Mapping[str, Any] | Frame | str | os.PathLike[str]
"""Cases, rows of their fields, {query: relevant ids}, a DataFrame, or the path of a gold file or labelled set."""
FIELDS = tuple(field.name for field in fields(Case))
FORMS = "Case, {query, relevant}, (query, relevant), a DataFrame with these columns, or the path of a gold file"


def take_cases(source: Source) -> tuple[list[Case], tuple[str, ...]]:
    """Return the cases, and what to know of them; raises UsageError for none at all, and for any other object.

    Raises InputError for an entry that is no case, and for one that comes twice.
    """
    if isinstance(source, (str, os.PathLike)):
        # Imported here: reading files takes more modules than all the rest.
        from recallbench.cases.files.gold_file import read_gold
        from recallbench.cases.files.set_folder import read_set

        path = Path(source)
        gold = read_set(path) if path.is_dir() else read_gold(path)
        return _distinct(list(gold.cases)), gold.notes
    if isinstance(source, Mapping):
        if {"query", "relevant"} <= source.keys():
            raise UsageError("a single case", expected="a list, as [{'query': …, 'relevant': […]}]", found="one alone")
        return _distinct([_from_row({"query": query, **_answer_of(value)}) for query, value in source.items()]), ()
    if hasattr(source, "to_dict") and hasattr(source, "columns"):
        return _distinct([_from_row(row) for row in _joined(_rows(source))]), ()
    if not isinstance(source, Iterable):
        raise UsageError("these are no cases", expected=FORMS, found=f"a {type(source).__name__}")
    return _distinct([_case(entry, number) for number, entry in enumerate(source)]), ()


def _case(entry: Any, number: int) -> Case:
    if isinstance(entry, Case):
        return entry
    if isinstance(entry, Mapping):
        return _from_row(entry)
    if isinstance(entry, (tuple, list)) and 2 <= len(entry) <= len(FIELDS):
        return Case(*entry)
    raise InputError(
        f"entry {number} of the cases is not a case",
        expected="Case(query, relevant), {'query': …, 'relevant': […]} or (query, relevant)",
        found=f"a {type(entry).__name__}: {entry!r}"[:SHOWN],
    )


def _answer_of(value: Any) -> Mapping[str, Any]:
    """Return the fields of a case that a dictionary has by its query: a row, grades, or relevant ids."""
    if isinstance(value, Mapping) and not {"relevant", "expected", "kind"}.isdisjoint(value):
        return value
    return {"relevant": value}


def _from_row(row: Mapping[str, Any]) -> Case:
    """Return the case of a row whose fields are named as in a gold file; what else it has are labels."""
    given = {str(name): value for name, value in row.items() if value is not None}
    id = next((str(given[name]) for name in NAMES if name in given), None)
    if id is None and "query" not in given:
        hint = misspelling_hint(given, "query")
        fields_given = ", ".join(given) or "nothing"
        raise InputError("a case without a query", expected="`query`, or an id", found=f"{fields_given[:SHOWN]}{hint}")
    others = {
        name: str(value)
        for name, value in given.items()
        if name not in KNOWN and name not in FIELDS and not isinstance(value, (Mapping, list, tuple, set))
    }
    named = {name: given[name] for name in FIELDS if name in given and name not in ("id", "labels")}
    labels = given.get("labels", {})
    try:
        return Case(
            **{"query": id, **named}, id=id, labels={**others, **labels} if isinstance(labels, Mapping) else labels
        )
    except InputError as error:
        meant = "" if "relevant" in given else misspelling_hint(given, "relevant")
        if not meant:
            raise
        raise InputError(error.problem, expected=error.expected, found=f"{error.found}{meant}") from None


def _rows(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of a DataFrame; an empty cell is None, which pandas has to be told."""
    polars = hasattr(frame, "to_dicts")
    rows: list[dict[str, Any]] = (
        frame.to_dicts() if polars else frame.astype(object).where(frame.notna(), None).to_dict("records")
    )
    return rows


def _joined(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each case; where each row has one relevant id, those of a query are joined.

    A column `grade` has the grade of that id.
    """
    ids = [row.get("relevant") for row in rows]
    if not all(id is None or isinstance(id, (str, int)) for id in ids) or not any(id is not None for id in ids):
        return rows
    joined: dict[Any, dict[str, Any]] = {}
    for row in rows:
        query = next((row[name] for name in (*NAMES, "query") if row.get(name) is not None), None)
        first = joined.setdefault(query, {**row, "grade": None, "relevant": {}})
        if row.get("relevant") is not None:
            grade = row.get("grade")
            first["relevant"][row["relevant"]] = 1 if grade is None else grade
    graded = any(row.get("grade") is not None for row in rows)
    return [{**row, "relevant": row["relevant"] if graded else list(row["relevant"])} for row in joined.values()]


def _distinct(cases: list[Case]) -> list[Case]:
    """Return the cases; raises UsageError for none at all, InputError for two of one name."""
    if not cases:
        raise UsageError("nothing to evaluate", expected="one case or more", found="none")
    named: set[str] = set()
    for case in cases:
        if case.name in named:
            what = "a query" if case.id is None else "an id"
            raise case.wrong(
                f"{what} that two cases have",
                "each once",
                f"{case.name} again"[:SHOWN],
                "leave one out, or give each an id of its own",
            )
        named.add(case.name)
    return cases
