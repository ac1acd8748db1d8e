"""Numbers as tables show them."""

from __future__ import annotations

from recallbench.reports.cells import milliseconds


def test_a_time_has_three_digits_and_no_exponent() -> None:
    assert [milliseconds(value) for value in (0.17843, 12.345, 1149.6, None)] == ["0.178", "12.3", "1150", "–"]
