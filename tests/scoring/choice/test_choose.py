from __future__ import annotations

import numpy as np
import pytest

from recallbench.scoring.choice.choose import choose
from recallbench.scoring.choice.race import race
from recallbench.scoring.choice.split import split_questions
from scoring.choice.drawn_sweeps import drawn_sweep

CLUSTERS = [f"c{i // 10}" for i in range(200)]
SPLIT = split_questions([f"q{i}" for i in range(200)], CLUSTERS)
VALUES = np.ones((5, 200))
"""Twenty clusters of ten, twelve for tuning: the points miss one, none, two, five and ten of each ten."""
for missed, row in zip((1, 0, 2, 5, 10), VALUES, strict=True):
    row[[i for i in range(200) if i % 10 < missed]] = 0
LATENCIES = [3.0, 9.0, 2.0, 1.0, 4.0]


def test_the_fastest_point_within_the_margin_is_chosen_and_its_held_out_value_told() -> None:
    found = choose(VALUES, SPLIT, LATENCIES, [1.0, 2.0, 1.0, 0.5, 3.0], CLUSTERS, margin=0.15, worth=0.08)
    assert found is not None
    assert (found.chosen, found.shown, found.best) == (0, True, 1)
    assert found.reason == "the fastest point that is not worse than the best by 0.15 (confidence 95%)"
    assert (found.held_out, found.optimism) == (pytest.approx(0.9), pytest.approx(0.0))
    assert (found.best_set.points, found.best_set.cheapest) == ((1,), 1)
    # Latency 1, 2, 3, 9: .5, .8, .9, 1; a doubling from 3 to 9 gains .063.
    assert found.front == (3, 2, 0, 1)
    assert found.knee is not None
    assert found.knee.point == 0
    assert [point.in_set for point in found.points] == [False, True, False, False, False]
    assert [point.front_share for point in found.points] == [1.0, 1.0, 1.0, 1.0, 0.0]
    assert [point.knee_share for point in found.points] == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert [point.tuning for point in found.points] == pytest.approx([0.9, 1.0, 0.8, 0.5, 0.0])
    assert found.points[2].non_inferior_p == 1.0


def test_gates_are_kept_by_what_is_chosen_among() -> None:
    found = choose(VALUES, SPLIT, LATENCIES, None, CLUSTERS, keeps_gates=[False, False, True, True, True])
    assert found is not None
    assert (found.chosen, found.eligible, found.best_set.points) == (2, (2, 3, 4), (2,))
    assert found.front == (3, 2, 0, 1)
    assert choose(VALUES, SPLIT, LATENCIES, None, CLUSTERS, keeps_gates=[False] * 5) is None


def test_points_that_a_race_dropped_are_numbered_as_before() -> None:
    tuned = [name for name, chosen in zip(CLUSTERS, SPLIT.tuning, strict=True) if chosen]
    values = np.concatenate([np.zeros((1, 200)), VALUES[:2]])
    raced = race(values[:, SPLIT.tuning], tuned, margin=0.15)
    assert raced.alive == (2, 1)
    asked = values.copy()
    asked[0] = np.nan
    found = choose(asked, SPLIT, [1.0, 2.0, 3.0], None, CLUSTERS, raced=raced, margin=0.15)
    assert found is not None
    assert (found.chosen, found.best_set.points, found.best_set.means) == (1, (2, 1), pytest.approx((1.0, 0.9)))
    assert (found.points[0].tuning, found.points[0].front_share, found.priced) == (None, None, (1, 2))


def test_what_can_not_be_said_is_named() -> None:
    few = split_questions(["a", "b", "c", "d"], ["x", "x", "y", "z"])
    found = choose(np.ones((2, 4)), few, [2.0, 1.0], None, ["x", "x", "y", "z"])
    assert found is not None
    assert (found.chosen, found.shown) == (0, False)
    assert found.reason == "the point seen best: 2 clusters can't show any to be non-inferior (p 0.25 at best)"
    found = choose(VALUES, SPLIT, [None] * 5, None, CLUSTERS)
    assert found is not None
    assert (found.chosen, found.front, found.knee, found.smallest_p) == (1, (), None, None)
    assert found.reason == "the point seen best: no latency is known to choose by"


@pytest.mark.marked
def test_the_held_out_value_is_free_of_the_luck_of_the_choice() -> None:
    # Twenty equal points, whose best is lucky: by about two standard deviations of what a point has of its own.
    lucky, held_out = [], []
    for sweep in range(60):
        values, clusters = drawn_sweep(np.random.default_rng([3, sweep]), np.full(20, 1.0), 10)
        split = split_questions([f"q{i}" for i in range(len(clusters))], clusters, seed=sweep)
        found = choose(values, split, [None] * 20, None, clusters)
        assert found is not None
        outside = values[:, split.held_out].mean()
        lucky.append(found.points[found.chosen].tuning - values[:, split.tuning].mean())  # type: ignore[operator]
        held_out.append(found.held_out - outside)  # type: ignore[operator]
    assert np.mean(lucky) > 0.01
    assert abs(np.mean(held_out)) < 3 * np.std(held_out) / np.sqrt(60)
    assert abs(np.mean(held_out)) < 0.004
