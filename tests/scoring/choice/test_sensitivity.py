from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from recallbench.scoring.choice.sensitivity import SensitivityDesign, sensitivities, sensitivity_design
from recallbench.scoring.judgement import Floats


def _answered(design: SensitivityDesign, effects: list[float], questions: int = 6) -> Floats:
    """Return values to which each level of a parameter adds its effect."""
    return np.repeat((np.array(design.settings) @ np.array(effects))[:, None], questions, axis=1)


def test_a_full_factorial_takes_the_chosen_level_and_its_neighbours() -> None:
    # The first parameter is at an end, the third has no other level: 2 x 3 points, 3 + 4 moves.
    design = sensitivity_design([5, 4, 1], [0, 2, 0])
    assert design.settings[0] == (0, 2, 0)
    assert sorted(design.settings) == [(a, b, 0) for a in (0, 1) for b in (1, 2, 3)]
    assert Counter((move.parameter, move.start) for move in design.moves) == {(0, 0): 3, (1, 1): 2, (1, 2): 2}
    assert design.method == "full factorial of 6 points"


def test_a_main_effect_is_the_mean_over_the_settings_of_the_others() -> None:
    design = sensitivity_design([2, 2], [0, 0])
    rows = {(0, 0): 0.5, (1, 0): 0.6, (0, 1): 0.5, (1, 1): 0.9}
    values = np.array([[rows[setting]] * 6 for setting in design.settings])
    first, second = sensitivities(design, values)
    assert (first.parameter, first.start, first.moves, first.failed) == (0, 0, 2, 0)
    assert (first.mean, first.least, first.most) == pytest.approx((0.25, 0.1, 0.4))
    assert (second.mean, second.absolute, second.deviation) == pytest.approx((0.15, 0.15, 0.3 / np.sqrt(2)))


def test_an_effect_has_the_bounds_of_its_clusters() -> None:
    design = sensitivity_design([2], [0])
    # Clusters move by 1 to 6 tenths: of 64 sets of clusters the lowest and the highest mean are single clusters.
    values = np.array([[0.0] * 6, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]])
    (found,) = sensitivities(design, values)
    assert (found.bounds.low, found.bounds.high) == pytest.approx((0.1, 0.6))
    (alone,) = sensitivities(design, values.mean(axis=1, keepdims=True))
    assert (alone.mean, alone.bounds.low) == (pytest.approx(0.35), None)
    assert alone.bounds.method.startswith("n/a (one cluster")


def test_a_point_that_failed_takes_its_moves_with_it() -> None:
    design = sensitivity_design([2, 2], [0, 0])
    values = _answered(design, [0.1, 0.2])
    values[design.settings.index((1, 1))] = np.nan
    first, second = sensitivities(design, values)
    assert (first.moves, first.failed, first.mean, first.deviation) == (1, 1, pytest.approx(0.1), None)
    assert second.mean == pytest.approx(0.2)
    (lost, _) = sensitivities(design, np.full((4, 6), np.nan))
    assert (lost.mean, lost.bounds.method) == (None, "n/a (every point failed)")


def test_more_than_four_parameters_are_walked_through_one_step_at_a_time() -> None:
    design = sensitivity_design([3] * 6, [1] * 6)
    assert design.method == f"Morris, 10 walks over {len(design.settings)} points, seed 42"
    assert design.settings[0] == (1,) * 6
    assert len(design.settings) <= 1 + 10 * 7 < 3**6
    for move in design.moves:
        step = np.subtract(design.settings[move.after], design.settings[move.before])
        assert step.tolist() == [int(parameter == move.parameter) for parameter in range(6)]
    assert Counter(move.parameter for move in design.moves)[0] >= 5
    assert design == sensitivity_design([3] * 6, [1] * 6)


def test_elementary_effects_of_a_sum_are_its_slopes_and_do_not_spread() -> None:
    design = sensitivity_design([3] * 5, [1] * 5)
    slopes = [0.05, -0.02, 0.0, 0.01, 0.03]
    found = sensitivities(design, _answered(design, slopes))
    assert [(effect.parameter, effect.start) for effect in found] == [(p, None) for p in range(5)]
    assert [effect.mean for effect in found] == pytest.approx(slopes, abs=1e-12)
    assert [effect.absolute for effect in found] == pytest.approx(np.abs(slopes).tolist(), abs=1e-12)
    assert [effect.deviation for effect in found] == pytest.approx([0.0] * 5, abs=1e-12)


def test_a_parameter_that_turns_anothers_effect_shows_in_mu_star_and_sigma() -> None:
    design = sensitivity_design([3] * 5, [1] * 5)
    settings = np.array(design.settings) - 1
    values = np.repeat((0.1 * settings[:, 0] * settings[:, 1])[:, None], 6, axis=1)
    found = sensitivities(design, values)
    assert found[0].absolute is not None
    assert found[0].deviation is not None
    assert found[0].absolute > 0.03
    assert found[0].deviation > 0.03
    assert found[4].absolute == 0


def test_a_level_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="is not among"):
        sensitivity_design([2, 2], [0, 2])
    with pytest.raises(ValueError, match="3 rows for 2 settings"):
        sensitivities(sensitivity_design([2], [0]), np.ones((3, 4)))
