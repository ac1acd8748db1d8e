"""CSV and TSV that people open in a spreadsheet: a cell is text or a number, never a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from recallbench.escaping.terminal import visible, visible_lines

_FORMULA = re.compile(r"'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?%?")


def cell(text: str) -> str:
    """Return the text, with an apostrophe before it where a spreadsheet would take it for a formula; a number is none.

    Without one apostrophe before `=+-@` it is the text again.
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unescaped(cell: str) -> str:
    """Return the text that a cell stands for."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def column(text: str) -> str:
    """Return a column of TSV, which has no quotes: tabs and line breaks are written out."""
    return visible(cell(text))


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as CSV; of invisible characters only line breaks stay, in quotes."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([visible_lines(cell(text)) for text in row] for row in rows)
    return buffer.getvalue()
