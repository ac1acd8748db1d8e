from __future__ import annotations

import numpy as np
import pytest

from recallbench.scoring.planning.mix_drift import mix_drift, total_variation


def test_the_distance_is_the_share_that_would_have_to_change() -> None:
    assert total_variation({"a": 6, "b": 4}, {"a": 60, "b": 40}) == pytest.approx(0.0)
    assert total_variation({"a": 6, "b": 4}, {"a": 3, "b": 5, "c": 2}) == pytest.approx(0.3)
    assert total_variation({"a": 1}, {"b": 1}) == pytest.approx(1.0)


def test_a_mix_that_moved_is_told_from_chance() -> None:
    moved = mix_drift({"fact": 600, "date": 400}, {"fact": 400, "date": 600})
    assert (moved.distance, moved.p) == (pytest.approx(0.2), 1 / 2000)
    assert 0.03 < moved.chance < 0.06
    few = mix_drift({"fact": 6, "date": 4}, {"fact": 4, "date": 6})
    assert few.p > 0.5
    assert few.chance > 0.2


def test_of_samples_of_one_mix_about_5_of_100_are_beyond_chance() -> None:
    rng = np.random.default_rng(7)
    shares = [0.5, 0.3, 0.15, 0.05]
    beyond = 0
    for _ in range(200):
        before, now = (dict(zip("abcd", rng.multinomial(300, shares).tolist(), strict=True)) for _ in range(2))
        beyond += mix_drift(before, now).p <= 0.05
    assert 2 <= beyond <= 20
