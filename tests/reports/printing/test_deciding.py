"""Which of interval and p decides, where they disagree."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from recallbench.reports.printing.deciding import deciding

AGAINST = "the interval excludes 0, yet p decides"
PRESUMES = "it presumes no distribution"


@pytest.mark.parametrize(
    ("bounds", "p", "corrected", "smallest", "words"),
    [
        ((0.01, 0.03), 0.01, 0.02, 0.002, ""),
        ((-0.01, 0.03), 0.2, 0.4, 0.002, ""),
        ((None, None), 0.01, 0.02, 0.002, ""),
        ((-0.03, -0.01), 0.03, 0.12, 0.002, f"{AGAINST}: it is corrected for 4 tests"),
        ((0.01, 0.03), 0.06, 0.06, 0.002, f"{AGAINST}: {PRESUMES}"),
        ((0.01, 0.03), 0.5, 0.5, 0.5, f"{AGAINST}: so few clusters differ that the least p is 1.0000"),
        ((0.01, 0.03), 0.04, 0.16, 0.02, f"{AGAINST}: so few clusters differ that the least p is 0.0800"),
        ((-0.01, 0.03), 0.04, 0.04, 0.002, f"the interval includes 0, yet p decides: {PRESUMES}"),
        ((-0.01, 0.03), 0.04, 0.04, 0.02, f"the interval includes 0, yet p decides: {PRESUMES}"),
    ],
)
def test_p_decides_and_the_reason_is_said(
    bounds: tuple[float | None, float | None], p: float, corrected: float, smallest: float, words: str
) -> None:
    tested = SimpleNamespace(low=bounds[0], high=bounds[1], p=p, smallest_p=smallest)
    assert deciding(tested, corrected, 4, "clusters") == words
