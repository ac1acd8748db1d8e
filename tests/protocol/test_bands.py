from __future__ import annotations

import pytest

from recallbench.corpora.registry import facts
from recallbench.protocol.bands import check_band
from recallbench.protocol.frozen import load


@pytest.mark.parametrize(
    ("corpus", "metric", "values", "inside"),
    [
        ("locomo", "recall@10", [0.90, 0.91, 0.905], True),  # exactly as far apart as the band allows
        ("locomo", "recall@10", [0.90, 0.9101], False),
        ("locomo", "MRR", [0.5, 0.515], True),
        ("longmemeval", "recall@10", [0.9, 0.906], False),
        ("longmemeval", "MRR", [0.85, 0.86], True),
        ("longmemeval", "MRR", [0.85], True),
        ("canary-locomo", "recall@10", [0.1, 0.9], None),
        ("locomo", "recall@10", [], None),
    ],
)
def test_any_two_repeats_lie_within_the_band(
    corpus: str, metric: str, values: list[float], inside: bool | None
) -> None:
    assert check_band(facts(corpus, load()), metric, values).inside is inside


def test_runs_that_are_no_repeats_are_not_held_to_the_band() -> None:
    verdict = check_band(facts("locomo", load()), "recall@10", [0.1, 0.9], "only 5 of the questions were asked")
    assert (verdict.inside, verdict.description) == (None, "not applicable: only 5 of the questions were asked")
