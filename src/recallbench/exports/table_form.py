"""The form of a table that results are exported to: its columns, what they mean, and what tells its rows apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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

    names: tuple[str, ...] = field(init=False)
    """The names of the columns, in their order."""
    _known: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # Kept, since they are asked for with every row.
        object.__setattr__(self, "names", tuple(column.name for column in self.columns))
        object.__setattr__(self, "_known", frozenset(self.names))

    def values(self, row: Row) -> tuple[Value, ...]:
        """Return the values of a row in the order of the columns; a column that it lacks is empty.

        Raises KeyError for a value that no column takes.
        """
        if not row.keys() <= self._known:
            raise KeyError(f"{self.name} has no column {', '.join(sorted(row.keys() - self._known))}")
        return tuple(map(row.get, self.names))


def columns(kind: Kind, /, **meanings: str) -> tuple[Column, ...]:
    """Return columns of one kind, by name, with what each means."""
    return tuple(Column(name, kind, meaning) for name, meaning in meanings.items())


def percentiles(p50: str) -> tuple[Column, ...]:
    """Return the columns of times, with what the p50 is; the others are alike."""
    return tuple(
        column
        for name, meaning in (("p50", p50), ("p95", "likewise"), ("p99", "likewise"))
        for column in columns(
            "number", **{f"{name}_ms": meaning, f"{name}_low": "lower bound", f"{name}_high": "upper bound"}
        )
    )
