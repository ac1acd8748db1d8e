from __future__ import annotations

import numpy as np
import pytest

from recallbench.reports.comparison import why_no_interval
from recallbench.scoring.paired import paired_columns


@pytest.mark.parametrize(
    ("clusters", "why"),
    [
        ("aabb", "2 clusters are too few (6 are needed)"),
        ("aaaa", "one cluster is too few (6 are needed)"),
    ],
)
def test_few_clusters_are_said_to_be_too_few(clusters: str, why: str) -> None:
    before, after = np.array([[0.0], [1.0], [1.0], [0.0]]), np.array([[1.0], [1.0], [0.5], [1.0]])
    (paired,) = paired_columns(before, after, list(clusters))
    assert paired.low is None
    assert why_no_interval(paired.method) == why


def test_any_other_reason_stays_as_it_is() -> None:
    assert why_no_interval("n/a (no question differs)") == "no question differs"
