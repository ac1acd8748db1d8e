"""Which of interval and p decides, where they disagree."""

from __future__ import annotations

import pytest

from recallbench.reports.printing.deciding import deciding

AGAINST = "the interval excludes 0, yet p decides"


@pytest.mark.parametrize(
    ("bounds", "p", "corrected", "smallest", "words"),
    [
        ((0.01, 0.03), 0.01, 0.02, 0.002, ""),
        ((-0.01, 0.03), 0.2, 0.4, 0.002, ""),
        ((None, None), 0.01, 0.02, 0.002, ""),
        ((-0.03, -0.01), 0.03, 0.12, 0.002, f"{AGAINST}: it is corrected for 4 tests"),
        ((0.01, 0.03), 0.06, 0.06, 0.002, f"{AGAINST}: it presumes no distribution"),
        ((0.01, 0.03), 0.5, 0.5, 0.5, f"{AGAINST}, and with so few clusters it can't be below 0.5"),
        ((-0.01, 0.03), 0.04, 0.04, 0.002, "the interval includes 0, yet p decides: it presumes no distribution"),
    ],
)
def test_p_decides_and_the_reason_is_said(
    bounds: tuple[float | None, float | None], p: float, corrected: float, smallest: float, words: str
) -> None:
    assert deciding(bounds, p, corrected, 4, smallest) == words
