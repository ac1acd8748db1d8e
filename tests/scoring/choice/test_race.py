from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from recallbench.scoring.choice.best_set import best_set, raced_set
from recallbench.scoring.choice.race import Dropped, Race, race
from recallbench.scoring.judgement import Floats
from scoring.choice.drawn_sweeps import drawn_sweep


def test_one_look_is_the_range_test_by_sign_flips() -> None:
    # Six clusters, .1 below in each: the distance .6 is that of 2 flips in 64, the next is .4, of 12 more.
    found = race(np.array([[1.0] * 6, [0.9] * 6]), looks=1)
    assert found.dropped == (Dropped(1, 1, 6, 0, pytest.approx(-0.1), pytest.approx(-0.2 / 6)),)
    assert found.told_apart == pytest.approx(0.4 / 6)
    assert (found.confidence, found.support.points, found.asked) == (0.95, 2, 12)
    assert found.method == "range of all points under all 64 sign flips of 6 questions, error spent over 1 look"


def test_the_range_is_that_of_all_points_until_the_worst_are_out() -> None:
    # The third point is as far below the first as the second, but in one cluster alone, as under half of all flips.
    values = np.array([[1.0] * 6, [0.9] * 6, [0.4, 1.0, 1.0, 1.0, 1.0, 1.0]])
    distances = sorted(np.ptp((values * signs).sum(axis=1)) for signs in product((1, -1), repeat=6))[::-2]
    found = race(values, looks=1)
    assert found.told_apart == pytest.approx(distances[1] / 6)
    assert found.alive == (0, 1, 2)


def test_five_clusters_can_drop_nothing_and_say_so() -> None:
    values = np.array([[1.0] * 5, [0.0] * 5])
    found = best_set(values, ["a", "b", "c", "d", "e"])
    assert (found.points, found.told_apart) == ((0, 1), None)
    assert found.description == (
        "no two of 2 points could be told apart: 5 questions can't tell any two points apart: "
        "sign flips reach p = 0.062 at best"
    )


def test_a_far_worse_point_is_dropped_early_and_not_asked_again() -> None:
    draw = np.random.default_rng(5)
    values = (draw.random((3, 600)) < np.array([[0.9], [0.88], [0.3]])).astype(np.float64)
    clusters = [f"c{i % 12}" for i in range(600)]
    going = Race(3, 600, clusters)
    assert [len(block) for block in going.blocks] == [60] * 10
    assert all({clusters[i] for i in block} == set(clusters) for block in going.blocks)
    assert sorted(np.concatenate(going.blocks).tolist()) == list(range(600))
    for block in going.blocks:
        going.add(values[np.array(going.alive)[:, None], block])
    found = going.raced()
    assert [(d.point, d.look, d.asked) for d in found.dropped] == [(2, 1, 60)]
    assert (found.asked, found.saved) == (1800 - 540, 540)
    assert found.alive == (0, 1)
    assert found == race(values, clusters)


def test_a_flip_that_dropped_a_point_early_has_spent_its_share_of_the_error() -> None:
    # Of 32 flips with an error of .1 one may cross by the first look and three by the second. The one that turns the
    # first cluster crosses at the first look; at the second two are further than what is seen, so it would be a fourth.
    first, whole = np.array([-1.0, 2.0, 2.0, 2.0, 2.0, 2.0]), np.array([5.0, 4.0, 3.0, 2.0, 0.05, -0.1])
    clusters = [f"c{i % 6}" for i in range(12)]
    going = Race(2, 12, clusters, looks=2, error=0.1)
    for block, moved in zip(going.blocks, (first, whole - first), strict=True):
        assert going.add(np.stack([np.zeros(6), moved[block % 6]])) == ()
    assert len(race(np.stack([np.zeros(6), whole]), looks=1, error=0.1).dropped) == 1


def test_six_clusters_have_one_flip_to_spend_at_the_last_look() -> None:
    values = np.ones((3, 60))
    values[1, ::3] = 0
    clusters = [f"c{i // 10}" for i in range(60)]
    found = race(values, clusters)
    assert [(d.point, d.look, d.asked) for d in found.dropped] == [(1, 10, 60)]
    assert found.saved == 0
    assert found.told_apart == race(values, clusters, looks=1).told_apart


def test_a_margin_keeps_points_that_are_worse_by_less() -> None:
    values = np.ones((3, 130))
    values[1, ::10] = 0  # .1 below, in every cluster alike
    values[2, ::2] = 0
    clusters = [f"c{i // 10}" for i in range(130)]
    assert race(values, clusters).alive == (0,)
    assert race(values, clusters, margin=0.11).alive == (0, 1)


def test_what_may_lie_on_the_front_stays_where_prices_are_given() -> None:
    clusters = [f"c{i % 10}" for i in range(10)]
    values = np.stack([np.ones(10), np.full(10, 0.5), np.full(10, 0.4)])
    going = Race(3, 10, clusters, looks=1)
    # The second is the cheapest; the third is worse than the first, which is no dearer.
    going.add(values, np.array([[2.0, 1.0, 2.0]]))
    assert going.alive == (0, 1)
    assert [(d.point, d.leader) for d in going.raced().dropped] == [(2, 0)]
    with pytest.raises(ValueError, match="prices of"):
        Race(3, 10, clusters, looks=1).add(values, np.ones((1, 2)))


def test_points_that_are_alike_stay() -> None:
    found = best_set(np.ones((4, 20)), [f"c{i % 10}" for i in range(20)], [3.0, None, 1.0, 1.0])
    assert (found.points, found.cheapest) == ((0, 1, 2, 3), 2)


def test_of_what_cannot_be_told_apart_the_cheapest_is_named() -> None:
    values = np.ones((3, 120))
    values[1, :3] = 0
    values[2] = 0
    found = best_set(values, [f"c{i % 12}" for i in range(120)], [5.0, 2.0, 0.1])
    assert (found.points, found.cheapest) == ((0, 1), 1)
    assert found.means == (1.0, 117 / 120)


def test_values_of_another_shape_are_refused() -> None:
    going = Race(3, 20, looks=2)
    with pytest.raises(ValueError, match="are not the values of 3 points, 10 questions"):
        going.add(np.ones((2, 10)))


def _share_wrong(truth: Floats, sweeps: int, clusters: int, looks: int) -> float:
    """Return how often a point that is as good as the best is dropped."""
    best, wrong = set(np.flatnonzero(truth == truth.max()).tolist()), 0
    for sweep in range(sweeps):
        values, names = drawn_sweep(np.random.default_rng([7, sweep]), truth, clusters)
        found = race(values, names, looks=looks)
        wrong += any(dropped.point in best for dropped in found.dropped)
    return wrong / sweeps


def test_forty_equal_points_have_a_false_winner_in_at_most_one_sweep_of_twenty() -> None:
    # Not one of 40 is told from the others: more than "one is called the winner".
    assert _share_wrong(np.full(40, 1.0), 100, 10, 1) <= 0.05


@pytest.mark.marked
@pytest.mark.parametrize("clusters", [6, 10])
@pytest.mark.parametrize(
    "truth",
    [
        np.full(40, 1.0),
        np.r_[np.full(3, 1.0), np.full(5, 0.85), np.full(4, 0.4)],
        np.r_[1.0, np.full(11, 0.97)],
        1 - 1.2 * np.exp(-np.arange(12) / 3),
    ],
    ids=["equal", "three best", "one best, closely", "curve"],
)
def test_a_race_drops_the_true_best_in_at_most_one_of_twenty(truth: Floats, clusters: int) -> None:
    # 300 sweeps: .05 and two standard errors.
    assert _share_wrong(truth, 300, clusters, 10) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)


def test_a_race_finds_what_it_should() -> None:
    truth = np.r_[np.full(3, 1.0), np.full(3, 0.2)]
    values, names = drawn_sweep(np.random.default_rng(3), truth, 10)
    found = race(values, names)
    assert set(found.alive) == {0, 1, 2}
    assert raced_set(found, values).points == found.alive
    assert found.saved > 0
