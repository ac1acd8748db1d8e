from __future__ import annotations

import pytest

from recallbench.scoring.choice.stability import stability


def test_repeats_and_seeds_have_a_deviation_of_their_own() -> None:
    found = stability([[1.0, 3.0], [5.0, 7.0, 6.0]])
    # Within: 1 + 1 and 1 + 1 + 0 over 5 - 2; the means are 2 and 6.
    assert (found.over_repeats, found.over_seeds) == pytest.approx(((4 / 3) ** 0.5, 8**0.5))
    assert (found.seeds, found.runs, found.mean, found.least, found.most) == (2, 5, 4.0, 1.0, 7.0)


def test_one_run_has_no_deviation() -> None:
    found = stability([[0.5]])
    assert (found.over_repeats, found.over_seeds, found.mean) == (None, None, 0.5)
    with pytest.raises(ValueError, match="without a run"):
        stability([[]])
