"""Vectors agree at a cosine of six nines and lengths within a ten-thousandth, in every row."""

from __future__ import annotations

import numpy as np
import pytest

from recallbench.embedding.vector_agreement import Difference, vector_difference


def difference(*rows: tuple[float, float]) -> Difference:
    """These rows against (1, 0)."""
    return vector_difference(np.array(rows), np.array([(1.0, 0.0)] * len(rows)))


@pytest.mark.parametrize("row", range(4))
def test_one_row_below_the_cosine_of_six_nines_is_no_agreement(row: int) -> None:
    vectors = [(1.0, 0.0)] * 4
    vectors[row] = (0.9999989, (1 - 0.9999989**2) ** 0.5)
    assert not difference(*vectors).tolerable
    assert difference(*vectors).cosine == pytest.approx(0.9999989, abs=1e-12)
    vectors[row] = (0.9999991, (1 - 0.9999991**2) ** 0.5)
    assert difference(*vectors).tolerable


@pytest.mark.parametrize("sign", [1, -1])
def test_one_row_longer_or_shorter_by_a_ten_thousandth_is_no_agreement(sign: int) -> None:
    assert not difference((1.0, 0.0), (1 + sign * 1.1e-4, 0.0)).tolerable
    assert difference((1.0, 0.0), (1 + sign * 1.1e-4, 0.0)).cosine == 1.0
    assert difference((1.0, 0.0), (1 + sign * 0.9e-4, 0.0)).tolerable


@pytest.mark.parametrize("useless", [(float("nan"), 0.0), (0.0, 0.0), (float("inf"), 0.0)])
def test_a_useless_vector_is_no_agreement(useless: tuple[float, float]) -> None:
    assert not difference((1.0, 0.0), useless).tolerable
