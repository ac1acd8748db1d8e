"""Rows of a table that is imported, against what is labelled already: which are new, the same, or another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recallbench.corpora.labelled_sets.label_book import name_line, question_of, stated_id
from recallbench.corpora.labelled_sets.labelled_files import other_id

COMPARED = ("query_id", "query", "scope", "tenant", "kind", "expected", "answer", "relevant")
"""The fields of a line that a row may change."""


class TakenRows:
    """The rows of one table that were taken so far."""

    def __init__(self, before: Mapping[str, Mapping[str, Any]], next_line: int, columns: Mapping[str, str]) -> None:
        self._lines = dict(before)
        self._ids = {question_of(record): id for id, record in before.items()}
        self._places: dict[str, int] = {}
        """The line of the table that each id stands in."""
        self._next_line = next_line
        self._columns = columns
        """What the table calls each field."""
        self.new: dict[str, Mapping[str, object]] = {}
        """By the id that each gets in the book."""
        self.replaced: dict[str, Mapping[str, object]] = {}
        """By the id that the line in the book has."""
        self.skipped = 0
        self.rows: list[Mapping[str, object]] = []
        """All of them, those that were skipped too."""
        self.differing = 0
        """Rows that were refused since the book has their question with other content."""

    def take(self, line: int, record: Mapping[str, Any], *, replace: bool) -> None:
        """Take a row that stands in this line of the table; raises ValueError that says why it can't be."""
        asked = self._ids.get(question_of(record))
        own = record.get("query_id")
        if own in self._lines and asked not in (None, own):
            raise ValueError(f"the id {own} is that of another question, and the question is there already as {asked}")
        known = own if own in self._lines else asked
        if known is None:
            id, named = name_line(own or "", self._next_line + len(self.new), self._lines)
            self.new[id] = {**named, **record}
            self._note(self.new[id], line, id)
            return
        new = own or known
        differences = [
            self._columns.get(field) or field
            for field in COMPARED
            if _content({"query_id": known, **record}, field)
            != _content({"query_id": known, **self._lines[known]}, field)
        ]
        if not differences:
            self.skipped += 1
            self._note(self._lines[known], line, known)
            return
        what = f"{known} is in line {self._places[known]}" if known in self._places else f"{known} is there"
        if known in self._places or not replace:
            self.differing += known not in self._places
            raise ValueError(f"{what} already, and differs: {', '.join(differences)}")
        before = self._lines.pop(known)
        named = {"query_id": new} if own or stated_id(before) or other_id(before, ()) == known else {}
        self.replaced[known] = {**named, **record}
        del self._ids[question_of(before)]
        self._note(self.replaced[known], line, new)

    def _note(self, record: Mapping[str, Any], line: int, id: str) -> None:
        self._lines[id] = record
        self._ids[question_of(record)] = id
        self._places[id] = line
        self.rows.append(record)


def _content(record: Mapping[str, Any], field: str) -> object:
    value = record.get(field) or ""
    if isinstance(value, list):
        return dict.fromkeys(map(str, value), 1.0)
    return " ".join(value.split()) if isinstance(value, str) else value
