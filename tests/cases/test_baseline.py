"""The rule that decides whether a report is worse than its baseline, as a table."""

from __future__ import annotations

import numpy as np
import pytest

from recallbench.compare.pairs import pair_values
from recallbench.compare.rules import Rule, decide_by_case, rule_on
from recallbench.reports.comparison import DifferencePart, MeasuredPart, difference_fields
from recallbench.scoring.measures.registry import parse
from recallbench.scoring.paired import holm

# Before and after, by case; one measure stands for the four that Holm corrects for.
TABLE = {
    "no case changed": ([1, 0.5], [1, 0.5], "passes", "no case changed"),
    "the mean did not fall": ([1, 0], [0, 1], "passes", "no difference shown"),
    "every case rose": ([0, 0], [1, 1], "passes", "no difference shown"),
    # Up to seven changed cases: 4 * 2^-6 is .0625, so no p can decide.
    "one case, lower": ([1], [0.5], "fails", "hurt"),
    "two cases, both collapse": ([1, 1], [0, 0], "fails", "hurt"),
    "two cases, unlike amounts": ([1, 0.5], [0, 0.4], "fails", "hurt"),
    "all lower by the same": ([0.9] * 5, [0.8] * 5, "fails", "hurt"),
    "all that found something": ([1, 0, 1], [0, 0, 0], "fails", "hurt"),
    "two of three": ([1, 1, 1], [0, 0, 1], "inconclusive", "lower, inconclusive"),
    "one of twenty": ([1] * 20, [0] + [1] * 19, "inconclusive", "lower, inconclusive"),
    "six of seven, the interval below zero": ([1] * 7, [0] * 6 + [1], "fails", "hurt"),
    "seven of twenty, the interval below zero": ([1] * 20, [0] * 7 + [1] * 13, "fails", "hurt"),
    # From eight on it can: 4 * 2^-7 is .03125.
    "eight of eight": ([1] * 8, [0] * 8, "fails", "hurt"),
    "eight of twenty": ([1] * 20, [0] * 8 + [1] * 12, "fails", "hurt"),
    "eight worse, two better": (
        [1] * 8 + [0] * 2 + [1] * 10, [0] * 8 + [1] * 2 + [1] * 10, "passes", "no difference shown",
    ),
    "nine worse, one better of ten": (
        [1] * 9 + [0], [0] * 9 + [1], "inconclusive", "lower by its interval, though not at a corrected p of 0.05",
    ),
}  # fmt: skip


def measured(before: list[float], after: list[float]) -> tuple[DifferencePart, np.ndarray, np.ndarray]:
    first, second = np.array(before, dtype=np.float64), np.array(after, dtype=np.float64)
    pair = pair_values(first, second)
    corrected = holm([pair.test.p] * 4)[0]
    fields = difference_fields("recall_frac@10", pair, corrected)
    return DifferencePart.model_validate(fields), first, second


@pytest.mark.parametrize("name", TABLE)
def test_the_rule_without_named_drops(name: str) -> None:
    before, after, outcome, word = TABLE[name]
    part, first, second = measured(before, after)
    decision = rule_on(part, 4, int(((first > 0) | (second > 0)).sum()))
    assert (decision.outcome, decision.word) == (outcome, word), part
    assert bool(decision.why) == (outcome == "fails")
    excluded = part.low is not None and part.high is not None and not part.low <= 0 <= part.high
    assert not (excluded and decision.word == "no difference shown")


DROPS = {
    "no case changed": ([1, 0.5], [1, 0.5], "passes"),
    "all equal, no interval, at least the drop": ([0.9] * 5, [0.8] * 5, "fails"),
    "all equal, no interval, less than the drop": ([0.9] * 5, [0.85] * 5, "inconclusive"),
    "all equal, no interval, higher": ([0.8] * 5, [0.9] * 5, "passes"),
    "two cases, both collapse": ([1, 1], [0, 0], "fails"),
    "all that found something": ([1, 0, 1], [0, 0, 0], "fails"),
    "one of twenty": ([1] * 20, [0] + [1] * 19, "inconclusive"),
    "one that found something of twenty": ([1] + [0] * 19, [0] * 20, "inconclusive"),
    "twelve of twenty": ([1] * 20, [0] * 12 + [1] * 8, "fails"),
    "so many that it is excluded": ([1] * 400, [0] + [1] * 399, "passes"),
}


@pytest.mark.parametrize("name", DROPS)
def test_the_rule_of_a_named_drop_of_a_tenth(name: str) -> None:
    before, after, outcome = DROPS[name]
    part, first, second = measured(before, after)
    more = {"first": first.mean(), "second": second.mean(), "role": "secondary", "turning": []}
    measured_part = MeasuredPart.model_validate(part.model_dump() | more)
    decision = decide_by_case(Rule(parse("recall_frac@10"), "drops", 0.1), measured_part, first, second)
    assert decision.outcome == outcome, decision
