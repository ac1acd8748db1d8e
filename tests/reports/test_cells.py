"""Numbers as tables show them."""

from __future__ import annotations

from recallbench.reports.cells import milliseconds, rate


def test_a_time_has_three_digits_and_no_exponent() -> None:
    assert [milliseconds(value) for value in (0.17843, 12.345, 1149.6, None)] == ["0.178", "12.3", "1150", "–"]


def test_a_rate_has_four_digits_that_count_and_no_exponent() -> None:
    assert [rate(value) for value in (0.512345, 100.0, 482.74, 22941.3, None)] == [
        "0.5123",
        "100",
        "482.7",
        "22940",
        "–",
    ]
