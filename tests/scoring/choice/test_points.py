from __future__ import annotations

import numpy as np
import pytest

from recallbench.scoring.choice.points import point_totals, support


@pytest.mark.parametrize(
    ("clusters", "smallest", "points"),
    # 10: .05 / (2 / 1024) is 25 pairs; 7 points have 21, 8 have 28.
    [(1, 1.0, 1), (5, 1 / 16, 1), (6, 1 / 32, 2), (10, 1 / 512, 7), (13, 1 / 4096, 20), (14, 1e-4, 32)],
)
def test_so_many_clusters_support_so_many_points(clusters: int, smallest: float, points: int) -> None:
    found = support(clusters)
    assert (found.smallest_p, found.points, found.chooses) == (pytest.approx(smallest), points, points > 1)


def test_support_is_said_in_words() -> None:
    assert support(10).description == (
        "10 clusters support 7 points with a test for each pair (smallest p 0.002); "
        "among more, only larger differences are told"
    )
    assert support(5).description == "5 clusters can't tell any two points apart: sign flips reach p = 0.062 at best"


def test_values_are_summed_by_cluster_and_a_nameless_question_is_its_own() -> None:
    found = point_totals(np.array([[1.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.0, 1.0]]), ["a", "", "a", "b"])
    assert sorted(map(tuple, found.totals.tolist())) == [(0.0, 0.5), (1.0, 1.0), (2.0, 0.0)]
    assert sorted(found.counts.tolist()) == [1, 1, 2]
    assert found.means.tolist() == [0.75, 0.375]


def test_resampled_means_weigh_clusters_by_their_questions() -> None:
    # Clusters of 3 questions (all hits) and 1 (none): 1, 3/4 or 0 with probability 1/4, 1/2, 1/4.
    found = point_totals(np.array([[1.0, 1.0, 1.0, 0.0]]), ["a", "a", "a", "b"]).resampled_means()
    assert sorted(set(found[:, 0].tolist())) == [0.0, 0.75, 1.0]
    assert (found[:, 0] == 0.75).mean() == pytest.approx(0.5, abs=0.04)


def test_a_missing_value_is_refused() -> None:
    with pytest.raises(ValueError, match="no value"):
        point_totals(np.array([[1.0, np.nan]]))
    with pytest.raises(ValueError, match="3 clusters for 2 questions"):
        point_totals(np.ones((1, 2)), ["a", "b", "c"])
