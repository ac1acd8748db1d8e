"""For CSV and TSV that people open in a spreadsheet: a cell is text or a number, never a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from recallbench.escaping.terminal import visible, visible_lines

_FORMULA = re.compile(r"'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?%?")


def cell(text: str) -> str:
    """The text with an apostrophe before what a spreadsheet would take for a formula; a number is none.

    One apostrophe less before one of `=+-@` gives the text again.
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def column(text: str) -> str:
    """A column of TSV, which has no quotes: tabs and line breaks are written out."""
    return visible(cell(text))


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Rows as CSV; of what can't be seen only line breaks are kept, in quotes."""
    kept = io.StringIO()
    csv.writer(kept, lineterminator="\n").writerows([visible_lines(cell(one)) for one in row] for row in rows)
    return kept.getvalue()
