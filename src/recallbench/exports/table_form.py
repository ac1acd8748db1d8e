"""The form of a table that results are exported to: its columns, what they mean, and what tells its rows apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Kind = Literal["text", "whole", "number", "flag", "moment", "texts", "wholes"]
"""What a column holds: a text, whole or other numbers, yes or no, a time with its zone; or several of the first two."""
Value = str | int | float | bool | datetime | Sequence[str] | Sequence[int] | None
Row = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Column:
    """A column; any but those of the key may be empty."""

    name: str
    kind: Kind
    meaning: str


@dataclass(frozen=True, slots=True)
class TableForm:
    """A table: one row for each value of its key."""

    name: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        return tuple(column.name for column in self.columns)

    def values(self, row: Row) -> tuple[Value, ...]:
        """Return the values of a row in the order of the columns; a column that it lacks is empty.

        Raises KeyError for a value that no column takes.
        """
        if strange := row.keys() - set(self.names):
            raise KeyError(f"{self.name} has no column {', '.join(sorted(strange))}")
        return tuple(row.get(name) for name in self.names)


def columns(kind: Kind, /, **meanings: str) -> tuple[Column, ...]:
    """Return columns of one kind, by name, with what each means."""
    return tuple(Column(name, kind, meaning) for name, meaning in meanings.items())
