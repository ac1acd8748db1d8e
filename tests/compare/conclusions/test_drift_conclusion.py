"""What a series of results ends with, to the letter."""

from __future__ import annotations

from recallbench.compare.conclusions.drift import conclude_drift
from recallbench.reports.comparison import ConditionPart, MeasuredPart
from recallbench.reports.drift import Drift


def pair(difference: float, **more: object) -> MeasuredPart:
    part = {
        "measure": "mrr@50", "difference": difference, "low": difference - 0.02, "high": difference + 0.02,
        "method": "", "p": 0.01, "p_holm": None, "smallest_p": 0.001, "test": "", "n": 90, "clusters": 90, "wins": 3,
        "ties": 0, "losses": 9, "detectable": None, "least": None, "most": None, "first": 0.5,
        "second": 0.5 + difference, "role": "secondary", "turning": [],
    }  # fmt: skip
    return MeasuredPart.model_validate(part | more)


def drift(results: int, direction: str, last: MeasuredPart | None, **more: object) -> Drift:
    night = {"made": "2026-01-01T00:00:00", "version": "1", "content_sha256": ""}
    estimate = {
        "measure": "mrr@50", "value": 0.5, "n": 90, "low": None, "high": None, "method": "", "chance": None,
        "ceiling": None, "saturated": None, "design_effect": None, "ordered": True,
    }  # fmt: skip
    fell = direction == "falling" or (last is not None and last.high is not None and last.high < 0 and last.p <= 0.05)
    part = {
        "schema_version": "1", "recallbench_version": "0", "measure": "mrr@50", "corpus": "locomo", "system": "bm25",
        "nights": [night | {"folder": f"n{i}", "estimate": estimate} for i in range(results)], "left_out": [],
        "trend": {
            "direction": direction, "n": results, "rises": 0, "falls": 0, "p": None if results < 5 else 0.0167,
            "method": "", "slope_per_day": -0.01, "slope_per_result": None,
        },
        "last_against_first": last, "notes": [], "fell": fell,
    }  # fmt: skip
    return Drift.model_validate(part | more)


def test_a_fall_over_time() -> None:
    conclusion = conclude_drift(drift(5, "falling", pair(-0.1)))
    assert str(conclusion) == (
        "mrr@50 falls over 5 results by 0.0100 a day, p 0.0167; last against first "
        "-0.1000 (-0.1200 to -0.0800), 90 questions, p 0.0100; next: recallbench compare n0 n4"
    )
    assert conclusion.tone == "bad"
    assert conclude_drift(drift(5, "falling", pair(-0.1)), fail_on_trend=True) == conclusion


def test_a_rise_over_time_and_a_step() -> None:
    conclusion = conclude_drift(drift(5, "rising", pair(0.1)))
    assert str(conclusion).startswith("mrr@50 rises over 5 results by 0.0100 a day, p 0.0167; last ")
    assert (conclusion.next, conclusion.tone) == ("", "good")
    lower = conclude_drift(drift(6, "none shown", pair(-0.1)))
    assert lower.happened == (
        "mrr@50 is lower in the last of 6 results than in the first: -0.1000 (-0.1200 to -0.0800), 90 questions, "
        "p 0.0100"
    )
    assert lower.tone == "bad"
    higher = conclude_drift(drift(6, "none shown", pair(0.1)))
    assert higher.happened.startswith("mrr@50 is higher in the last of 6 results than in the first: +0.1000 (")


def test_no_movement() -> None:
    same = conclude_drift(drift(6, "none shown", pair(0, wins=0, losses=0, low=None, high=None, p=1)))
    assert (str(same), same.tone) == (
        "mrr@50 is the same in the last of 6 results as in the first, 90 questions", "good",
    )  # fmt: skip
    open_ = conclude_drift(drift(6, "none shown", pair(0.001, p=0.5)))
    assert str(open_) == (
        "mrr@50 shows no trend over 6 results; last against first +0.0010 (-0.0190 to +0.0210), 90 questions, p 0.5000"
    )


def test_what_cannot_be_told() -> None:
    few = conclude_drift(drift(2, "too few", pair(-0.1, low=None, high=None, p=0.125, smallest_p=0.125)))
    assert few.belief == ("so few clusters differ that the least p is 0.1250")
    assert few.tone == "open"
    apart = conclude_drift(drift(6, "none shown", pair(0.1, p=0.06)))
    assert apart.belief == "interval and p disagree: both must exclude 0"
    other = conclude_drift(drift(6, "none shown", pair(0.01, p=0.04)))
    assert other.belief == "interval and p disagree: both must exclude 0"
    left = conclude_drift(drift(6, "none shown", pair(0.1), left_out=[{"folder": "x", "reason": "y"}]))
    assert left.belief == "1 left out: the lines above say why"


def test_rules() -> None:
    rule = ConditionPart(
        condition="mrr@50 drops 0.01", measure="mrr@50", threshold=0.01, low=None, high=None, outcome="inconclusive",
        reason="no interval",
    )  # fmt: skip
    series = drift(6, "none shown", pair(0.001, p=0.5), conditions=[rule])
    conclusion = conclude_drift(series)
    assert (str(conclusion), conclusion.tone) == (
        "The rule 'mrr@50 drops 0.01' is inconclusive, which fails only with --strict: mrr@50, last against first "
        "+0.0010 (-0.0190 to +0.0210), 90 questions, p 0.5000",
        "open",
    )
    strict = conclude_drift(series, strict=True)
    assert strict.happened.startswith("The rule 'mrr@50 drops 0.01' is inconclusive, which --strict forbids: mrr@50, ")
    assert (strict.tone, strict.next) == ("bad", "recallbench compare n0 n5")
    passed = conclude_drift(drift(6, "none shown", pair(0.001, p=0.5), conditions=[rule.model_copy(update=PASSES)]))
    assert str(passed).endswith(", 90 questions, p 0.5000; the rule passes")


def test_the_line_stays_short() -> None:
    """A measure with a long name, over many results and questions, that falls or can't be told to."""
    last = pair(-0.1, n=1982, p=0.06)
    for direction, outcome in (("falling", "passes"), ("none shown", "fails"), ("too few", "inconclusive")):
        rule = ConditionPart(
            condition="recall_frac@10 drops 0.01", measure="recall_frac@10", threshold=0.01, low=None, high=None,
            outcome=outcome, reason="no interval",
        )  # fmt: skip
        for rules in ([], [rule]):
            series = drift(365, direction, last, measure="recall_frac@10", conditions=rules, left_out=LEFT)
            assert len(str(conclude_drift(series))) <= 220


LEFT = [{"folder": "x", "reason": "y"}]
PASSES = {"outcome": "passes"}
