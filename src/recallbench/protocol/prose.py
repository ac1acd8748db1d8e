"""PROTOCOL.md, read: every value its tables state, and every figure that stands outside them.

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
from dataclasses import dataclass, field

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
    """What the document states."""

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
    """Everything that PROTOCOL.md states."""
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
                _unchecked(line, prose)
        elif clarification and (match := _DATED.fullmatch(line)):
            prose.state(f"{clarification}.date", match[1])
            prose.state(f"{clarification}.corpora", "" if match[2] == EVERY_CORPUS else match[2])
        elif clarification:
            paragraphs.append(line)
        else:
            _unchecked(line, prose)
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
                _unchecked(cell, prose)
            elif cell != ABSENT:
                prose.state(f"{key}.{plain(column)}", cell)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _unchecked(line: str, prose: Prose) -> None:
    if _FIGURE_OR_CODE.search(_LINK_TARGET.sub("", line)):
        prose.stray.append(f"a figure or code outside the checked tables: {line}")
