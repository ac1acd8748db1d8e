"""Names in a line that has room for a few of them."""

from __future__ import annotations

import pytest

from recallbench.reports.conclusions.names import listed


@pytest.mark.parametrize(
    ("names", "three", "one"),
    [("a", "a", "a"), ("ab", "a, b", "a and 1 more"), ("abcde", "a, b, c and 2 more", "a and 4 more")],
)
def test_a_few_are_named_and_the_others_counted(names: str, three: str, one: str) -> None:
    assert (listed(list(names)), listed(list(names), 1)) == (three, one)
