"""What quantities cost, and from which question on a memory is cheaper."""

from __future__ import annotations

import pytest

from recallbench.scoring.costs import (
    CostLine,
    HitRate,
    Lengths,
    Money,
    Prices,
    TokenPrice,
    break_even,
    history_break_even,
    total,
)
from recallbench.usage import Usage

SMALL = TokenPrice(fresh=1.0, cache_read=0.1, cache_write=1.25, output=5.0)
PRICES = Prices("2026-01-01", "USD", {"small": SMALL, "small-mini": SMALL}, processor_hour=0.36, gigabyte_month=0.08)


def test_each_sort_of_token_has_its_price() -> None:
    # 2 + .1 x 3 + 1.25 x 4 + 5 x 1 dollars for millions of each.
    usage = Usage(fresh=2_000_000, cache_read=3_000_000, cache_write=4_000_000, output=1_000_000)
    assert SMALL.of(usage) == pytest.approx(12.3)


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("small", True),
        ("provider/Small-2026-05-01", True),
        ("small:latest", True),
        ("small-20260501", True),
        ("small-large", False),
        ("small-4-5", False),
        ("smaller", False),
        ("", False),
    ],
)
def test_a_model_goes_by_its_name_with_or_without_its_date(name: str, listed: bool) -> None:
    assert (PRICES.model(name) is SMALL) == listed


def test_a_sum_says_what_has_no_price_and_leaves_out_what_is_paid_by_the_month() -> None:
    lines = [
        CostLine("searching", 10.0, "processor seconds"),
        CostLine("vectors", 1e9, "bytes"),
        CostLine("rewrite", Usage(fresh=1_000_000), "tokens", "small"),
    ]
    assert [line.price(PRICES) for line in lines] == [pytest.approx(0.001), 0.08, 1.0]
    assert total(lines, PRICES) == Money(pytest.approx(1.001))
    other = CostLine("rerank", Usage(fresh=5), "tokens", "unheard-of")
    assert total([*lines, other], PRICES) == Money(pytest.approx(1.001), ("rerank",))
    assert total([other], PRICES) == Money(None, ("rerank",))
    assert total([], PRICES) == Money(0.0)
    assert Money(3.0).per(2).amount == 1.5
    assert Money(3.0).per(0).amount is None


def test_a_memory_is_cheaper_from_the_question_on_that_its_setup_is_paid_back() -> None:
    """A setup of 10, then 1 a question against 3: after 5 questions both cost 15, and the sixth is the first to pay."""
    assert break_even(10, 1, 3, 3).question == 6
    # With a kept history the first question costs 4 and each one after it 2: 10 + n < 4 + 2 (n - 1) from 9 on.
    assert break_even(10, 1, 4, 2).question == 9
    assert break_even(0, 1, 3, 3).question == 1
    assert break_even(10, 3, 3, 3).question is None
    assert break_even(10, 4, 3, 3).question is None
    # 3n < 10 + 2(n - 1): it holds up to n = 7, and 3 x 8 equals 10 + 2 x 7.
    assert (break_even(0, 3, 10, 2).question, break_even(0, 3, 10, 2).last) == (1, 7)
    assert break_even(0, 2, 10, 2).last is None


def test_the_history_is_sent_anew_or_kept_by_the_endpoint() -> None:
    """A context of 2,000 tokens against a history of 100,000, and a setup that costs what 150,000 fresh tokens do."""
    found = history_break_even(0.15, 0.001, Lengths(2_000, 100_000, counted=True), SMALL)
    # .15 + .003 n < .1 n from the second on; kept, .15 + .003 n < .125 + .01 (n - 1) from the sixth on.
    assert (found["uncached"].question, found["cached"].question) == (2, 6)
    assert (found["uncached"].memory, found["cached"].history) == (pytest.approx(0.003), pytest.approx(0.01))


def test_a_rate_of_nothing_is_none() -> None:
    assert HitRate("answers", 0, 0).share is None
    assert HitRate("answers", 3, 4).share == 0.75
