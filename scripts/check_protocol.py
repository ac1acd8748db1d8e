"""Checks that PROTOCOL.md says what the protocol data says, value by value.

usage: check_protocol.py [FILE]     the PROTOCOL.md of this folder by default; exit 1 and each difference, else 0

The document is written for people and checked by machine, so it keeps to a few forms:
- `## 1. Title` opens a section; `### 1. Title` below the heading `## Clarifications` opens a clarification.
- A table names what it restates in its first header cell, as code: a path of the data (`bands`), or `facts` inside a
  clarification. A column headed `value` holds the value of each row's key; a column headed by code holds the value of
  that key below the row's; any other column is a remark.
- A clarification's date and corpora stand in the line `*2026-11-18, on locomo.*`, its text in the paragraphs after.
- Everything else, remarks included, holds neither figures, in digits or words, nor code: nothing could check them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from recallbench.errors import InputError, RecallBenchError
from recallbench.protocol.frozen import Data, read_data

DOCUMENT = Path("PROTOCOL.md")
NONE = "none"
"""An empty list in a table of the document."""
EVERY_CORPUS = "every corpus"
ABSENT = "–"

_SECTION = re.compile(r"## (?:(\d+)\. )?(.+)")
_CLARIFICATION = re.compile(r"### (\d+)\. (.+)")
_DATED = re.compile(r"\*(\d{4}-\d{2}-\d{2}), on (.+)\.\*")
_LINK_TARGET = re.compile(r"(?<=\])\([^)]*\)")
_FIGURE_OR_CODE = re.compile(
    r"[0-9`]|\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|fifty|hundred|thousand)\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Prose:
    """The values that the document states."""

    values: dict[str, str] = field(default_factory=dict)
    """Path of each value, and its cell as written, without code marks."""
    stray: list[str] = field(default_factory=list)
    """Lines that state what no table holds, or can't be read."""

    def state(self, path: str, text: str) -> None:
        """Take a value; a second one at the same path is stray."""
        if path in self.values:
            self.stray.append(f"{path} is stated twice")
        self.values[path] = plain(text)


def plain(text: str) -> str:
    """Text without code marks, its white space made even."""
    return " ".join(text.replace("`", "").split())


def parse(markdown: str) -> Prose:
    """Return all values that PROTOCOL.md states."""
    prose = Prose()
    clarification: str | None = None
    clarifying = False
    paragraphs: list[str] = []
    table: list[str] = []
    for line in [*markdown.splitlines(), "## End"]:
        if line.startswith("|"):
            table.append(line)
            continue
        if table:
            _table(table, clarification, prose)
            table = []
        if line.startswith("#"):
            if clarification:
                prose.state(f"{clarification}.text", " ".join(paragraphs))
                paragraphs, clarification = [], None
            if clarifying and (match := _CLARIFICATION.fullmatch(line)):
                clarification = f"clarifications.{match[1]}"
                prose.state(f"{clarification}.number", match[1])
                prose.state(f"{clarification}.title", match[2])
            elif (match := _SECTION.fullmatch(line)) and match[1]:
                clarifying = False
                prose.state(f"sections.{match[1]}", match[2])
            else:
                clarifying = line == "## Clarifications"
                _refuse_figures(line, prose)
        elif clarification and (match := _DATED.fullmatch(line)):
            prose.state(f"{clarification}.date", match[1])
            prose.state(f"{clarification}.corpora", "" if match[2] == EVERY_CORPUS else match[2])
        elif clarification:
            paragraphs.append(line)
        else:
            _refuse_figures(line, prose)
    return prose


def _table(lines: list[str], clarification: str | None, prose: Prose) -> None:
    header, *rows = (_cells(line) for line in lines)
    root = header[0].strip("`")
    if header[0] != f"`{root}`" or (clarification and root.split(".")[0] != "facts"):
        prose.stray.append(f"a table that names nothing of the data: {lines[0]}")
        return
    if clarification:
        root = f"{clarification}.{root}"
    for row, line in zip(rows[1:], lines[2:], strict=True):
        if len(row) != len(header):
            prose.stray.append(f"{len(row)} cells under {len(header)} headings: {line}")
            continue
        key = f"{root}.{plain(row[0])}"
        for column, cell in zip(header[1:], row[1:], strict=True):
            if column == "value":
                prose.state(key, cell)
            elif not column.startswith("`"):
                _refuse_figures(cell, prose)
            elif cell != ABSENT:
                prose.state(f"{key}.{plain(column)}", cell)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _refuse_figures(line: str, prose: Prose) -> None:
    if _FIGURE_OR_CODE.search(_LINK_TARGET.sub("", line)):
        prose.stray.append(f"a figure or code outside the checked tables: {line}")


def leaves(data: Data) -> dict[str, str]:
    """Every value of the data by its path, as the document has to write it; decimals keep their zeros (`0.010`)."""
    values = dict(_walk("", data.frozen))
    for entry in data.clarifications:
        values |= _walk(f"clarifications.{entry['number']}", {**entry, "corpora": ", ".join(entry["corpora"])})
    return values


def differences(data: Data, markdown: str) -> list[str]:
    """Return a line for each value that data and document do not both state alike; empty where they agree."""
    prose = parse(markdown)
    expected = leaves(data)
    lines = list(prose.stray)
    for path in expected.keys() - prose.values.keys():
        lines.append(f"{path}: the data has {expected[path]!r}, the document nothing")
    for path in prose.values.keys() - expected.keys():
        lines.append(f"{path}: the document has {prose.values[path]!r}, the data nothing")
    for path in expected.keys() & prose.values.keys():
        if expected[path] != prose.values[path]:
            lines.append(f"{path}: the data has {expected[path]!r}, the document {prose.values[path]!r}")
    return sorted(lines)


def written(value: object) -> str:
    """A single value as the document writes it."""
    if isinstance(value, list):
        between = "; " if any(isinstance(item, str) for item in value) else ", "
        return between.join(written(item) for item in value) or NONE
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str | int | Decimal):
        return plain(str(value))
    raise TypeError(f"the protocol data holds no {type(value).__name__}")


def _walk(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        value = {str(number): row for number, row in enumerate(value, 1)}
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk(f"{path}.{key}" if path else key, inner)
    else:
        yield path, written(value)


def main(arguments: Sequence[str]) -> int:
    """Compare the document named, or PROTOCOL.md here; 1 and the differences where they disagree."""
    path = Path(arguments[0]) if arguments else DOCUMENT
    try:
        data = read_data(number=Decimal)
        lines = differences(data, _text(path))
    except RecallBenchError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    for line in lines:
        print(f"{path}: {line}")
    if not lines:
        print(f"{path} agrees with the protocol data: {len(leaves(data))} values")
    return 1 if lines else 0


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: can't be read",
            expected="PROTOCOL.md of the project, in UTF-8",
            found=str(error),
            remedy="run it where PROTOCOL.md is, or name the file",
        ) from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
