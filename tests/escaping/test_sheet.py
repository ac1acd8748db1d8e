"""A cell is never a formula, and is read back unchanged."""

import csv
import io
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recallbench.escaping.sheet import cell, column, csv_text, unescaped
from recallbench.escaping.terminal import visible_lines

hostile = st.text(st.sampled_from([*"=+-@'\t\r\n,\";0.5eE%aB \x1b"]), max_size=12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+1+cmd", "'+1+cmd"),
        ("-2+3", "'-2+3"),
        ("@SUM(1)", "'@SUM(1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("'=1", "''=1"),
        ("-0.5", "-0.5"),
        ("+1e-9", "+1e-9"),
        ("-3%", "-3%"),
        ("plain", "plain"),
        ("'quoted'", "'quoted'"),
        ("–", "–"),
    ],
)
def test_a_cell_that_a_spreadsheet_would_evaluate_is_text(text: str, expected: str) -> None:
    assert cell(text) == expected


@given(hostile)
def test_a_cell_gives_its_text_again(text: str) -> None:
    assert unescaped(cell(text)) == text


@given(st.lists(hostile, min_size=2))
@example(["=1+1", 'a,"b"\nc'])
def test_a_row_is_read_back_unchanged(row: list[str]) -> None:
    read = next(csv.reader(io.StringIO(csv_text([row]), newline="")))

    assert [re.sub(r"^'(?='*([=+@-]|\\[tr]))", "", value) for value in read] == [visible_lines(value) for value in row]


@given(hostile)
def test_a_column_is_one_column_of_one_line(text: str) -> None:
    assert not set(column(text)) & set("\t\r\n\x1b")
    assert re.match(r"[=@]|[+-](?![0-9.])", column(text)) is None
