"""Names in a line that has room for a few of them."""

from __future__ import annotations

import pytest

from recallbench.reports.conclusions.names import joined, listed


@pytest.mark.parametrize(
    ("names", "in_a_row", "in_a_sentence"),
    [
        ("a", "a", "a"),
        ("ab", "a, b", "a and b"),
        ("abc", "a, b, c", "a, b and c"),
        ("abcde", "a, b, c and 2 more", "a, b, c and 2 more"),
    ],
)
def test_three_are_named_and_the_others_counted(names: str, in_a_row: str, in_a_sentence: str) -> None:
    assert (listed(list(names)), joined(list(names))) == (in_a_row, in_a_sentence)
