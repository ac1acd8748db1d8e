"""The note beside a threshold says what its interval means."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from recallbench.compare.thresholds import _floor
from recallbench.compare.thresholds_abstention import _part
from recallbench.reports.thresholds import REACHES, TOO_SHORT
from recallbench.scoring.estimate import Estimate
from recallbench.scoring.intervals import Interval
from recallbench.scoring.measures.registry import parse

NIGHT: Any = SimpleNamespace(name="night")


@pytest.mark.parametrize(
    ("value", "effect", "floor", "note"),
    [
        (0.97, 6.0, 0.9, TOO_SHORT),
        (0.97, 5.0, 0.9, ""),
        (0.9, 6.0, 0.8, ""),
        (0.97, 6.0, 0.975, f"{REACHES}; {TOO_SHORT}"),
        (0.97, 6.0, 0.995, f"no ranking could keep it; {TOO_SHORT}"),
        (0.97, None, 0.975, REACHES),
    ],
)
def test_the_note_of_a_floor(value: float, effect: float | None, floor: float, note: str) -> None:
    estimate = Estimate(parse("mrr@10"), value, 90, value - 0.02, value + 0.01, "", None, 0.99, None, effect)
    assert _floor(NIGHT, "overall", estimate, floor).note == note


def test_the_note_of_an_abstention_threshold() -> None:
    notes = [
        _part("night", "auroc", required, 0.98, Interval(0.96, 0.995, "", effect), 1.0, 90, required - 0.98).note
        for required, effect in ((0.9, 6.0), (0.99, 6.0), (0.99, 4.0))
    ]
    assert notes == [TOO_SHORT, f"{REACHES}; {TOO_SHORT}", REACHES]
