"""A data file beside a text, such as `table --format csv` or a matrix writes: rows by name, a column per measure."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recallbench.citing.figure_grammar import CitedFigure, without_names
from recallbench.citing.printed_number import count, holds, is_same, number
from recallbench.citing.publication import read_text
from recallbench.errors import InputError

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RowFinding:
    """What a data file has for a figure."""

    known: bool
    """Whether the words around the figure tell which row is meant."""
    problems: tuple[str, ...] = ()
    folder: str = ""
    """The result folder that the row names, from the file's own."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """The rows of a file; what a row is of stands in its first columns, before any with numbers."""

    name: str
    place: Path
    """The folder that it lies in."""
    keys: tuple[str, ...]
    rows: tuple[Row, ...]

    @classmethod
    def read(cls, file: Path) -> DataFile:
        """Read CSV with a header, or a JSON array of flat objects; raises InputError for anything else."""
        text = read_text(file)
        try:
            rows = json.loads(text) if file.suffix == ".json" else list(csv.DictReader(io.StringIO(text), strict=True))
            table = [{str(name): "" if cell is None else str(cell) for name, cell in row.items()} for row in rows]
        except (ValueError, csv.Error, AttributeError, TypeError, RecursionError) as error:
            raise _no_data(file, f"{type(error).__name__}: {error}") from None
        if not table:
            raise _no_data(file, "no row")
        keys: list[str] = []
        for column in table[0]:
            if any(_NUMBER.fullmatch(row.get(column, "")) for row in table):
                break
            keys.append(column)
        if not keys:
            raise _no_data(file, "numbers in the first column")
        return cls(file.name, file.parent, tuple(keys), tuple(table))

    def find(self, figure: CitedFigure) -> RowFinding:
        """Compare value, interval and n with those of the row that the words around the figure name."""
        rows: Sequence[Row] = self.rows
        for key in self.keys:
            named = self._named(key, figure, rows)
            if not named:
                return RowFinding(False, (f"the text names no {key} of {self.name} for it",))
            rows = [row for row in rows if row.get(key, "") in named]
        measure = figure.names[0].measure
        problems = [self._problems(row, measure, figure) for row in rows]
        if any(problems) and not all(problems):
            return RowFinding(False, (f"the text names {len(rows)} rows of {self.name} for it",))
        folders = {row.get("folder", "") for row in rows}
        return RowFinding(True, problems[0] if problems else (), folders.pop() if len(folders) == 1 else "")

    def _named(self, key: str, figure: CitedFigure, rows: Sequence[Row]) -> set[str]:
        """Return the values of a column that the nearest words name; a longer name hides the shorter in it."""
        values = sorted({row.get(key, "") for row in rows}, key=len, reverse=True)
        if len(values) == 1:
            return set(values)
        for words in (figure.row, figure.clause, figure.sentence, *figure.headings):
            named = set()
            for value in filter(None, values):
                shorter = without_names(words, [value])
                if shorter != words:
                    named.add(value)
                    words = shorter
            if named:
                return named
        return set()

    def _problems(self, row: Row, measure: str, figure: CitedFigure) -> tuple[str, ...]:
        column = measure if figure.role == "value" or self._is_of(row, figure.role) else figure.role
        name = " ".join(row.get(key, "") for key in self.keys).strip()
        value = _float(row.get(column, ""))
        if value is None:
            return (f"{self.name} has no {column} for {name}",)
        problems = []
        if not holds(value, figure.bound, figure.value):
            but = f", which is not {figure.bound} {figure.value}" if figure.bound else ""
            problems.append(f"{self.name} has {value:.{max(4, number(figure.value)[1])}f} for {name}{but}")
        ends = [_float(row.get(f"{column} {end}", "")) for end in ("low", "high")]
        if figure.interval and None not in ends and not all(map(is_same, ends, figure.interval)):
            low, high = (f"{end:.4f}" for end in ends if end is not None)
            problems.append(f"the interval {' to '.join(figure.interval)}: {self.name} has {low} to {high}")
        n = _float(row.get("n", ""))
        if figure.count and n is not None and count(figure.count) != n:
            problems.append(f"n = {figure.count}: {self.name} has {n:.0f}")
        return tuple(problems)

    def _is_of(self, row: Row, role: str) -> bool:
        """Return whether the row itself is of a control, as `chance`."""
        return any(row.get(key, "").lower() in (role, f"{role} control") for key in self.keys)


def _float(cell: str) -> float | None:
    return float(cell) if _NUMBER.fullmatch(cell) else None


def _no_data(file: Path, found: str) -> InputError:
    return InputError(
        f"{file} can't be read as data",
        expected="CSV with a header, or a JSON array of flat objects: rows that are named in their first columns, "
        "and a column for each measure",
        found=found,
        remedy="write it with `recallbench table RESULT... --format csv`",
    )
