"""The words for the last result beside the first."""

from __future__ import annotations

import numpy as np
import pytest

from recallbench.reports.comparison import MeasuredPart, difference_fields
from recallbench.reports.drift import Drift, TrendPart, findings
from recallbench.scoring.paired import paired

FALLING = TrendPart(
    direction="falling", n=5, rises=0, falls=10, p=0.0167, method="Mann-Kendall", slope_per_day=-0.1,
    slope_per_result=None,
)  # fmt: skip
# First and last value of each question.
TABLE = {
    "nothing changed": ([1.0, 0.0], [1.0, 0.0], "no difference shown"),
    "too few for a test": ([1.0] * 5, [0.0] * 5, "lower by its interval, though p is above 0.05"),
    "the same, higher": ([0.0] * 5, [1.0] * 5, "higher by its interval, though p is above 0.05"),
    "proven": ([1.0] * 10, [0.0] * 10, "proven lower"),
    "all alike, so that there is no interval": ([0.9] * 10, [0.8] * 10, "proven lower"),
    "one of ten": ([1.0] * 10, [0.0] + [1.0] * 9, "no difference shown"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_the_word_agrees_with_the_interval(name: str) -> None:
    first, last, word = TABLE[name]
    pair = paired(np.array(first), np.array(last))
    fields = difference_fields("mrr@10", pair, None)
    more = {"first": float(np.mean(first)), "second": float(np.mean(last)), "role": "secondary", "turning": []}
    drift = Drift(
        schema_version="1", recallbench_version="0", measure="mrr@10", corpus="c", system="s", nights=[], left_out=[],
        trend=FALLING, last_against_first=MeasuredPart.model_validate(fields | more), notes=[], fell=True,
    )  # fmt: skip
    trend, compared = findings(drift)
    assert trend.endswith("; -0.1000 a day)")
    assert compared.endswith(f", {word}")
