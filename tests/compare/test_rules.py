from __future__ import annotations

import pytest

from recallbench.compare.rules import decide, exit_code, parse_failures, parse_requirement, parse_rule, regressions
from recallbench.errors import UsageError
from recallbench.reports.comparison import ConditionPart, MeasuredPart


def measured(low: float | None, high: float | None, *, wins: int = 3, losses: int = 5, **more: object) -> MeasuredPart:
    """Return a difference (second minus first) with this interval."""
    fields = {
        "measure": "recall_any@10",
        "difference": -0.01,
        "low": low,
        "high": high,
        "method": "n/a (all clusters equal)" if low is None else "t(9) 95%",
        "p": 0.04,
        "p_holm": 0.04,
        "smallest_p": 0.002,
        "test": "all 1,024 sign flips",
        "n": 100,
        "clusters": 10,
        "wins": wins,
        "ties": 100 - wins - losses,
        "losses": losses,
        "detectable": None,
        "least": None,
        "most": None,
        "first": 0.9,
        "second": 0.89,
        "role": "primary",
        "turning": [],
    }
    return MeasuredPart.model_validate({**fields, **more})


# The difference is B minus A, so a drop is its mirror image: [-.020, -.006] is a drop of .006 to .020.
TABLE = {
    "a drop of at least that much is proven": (-0.020, -0.006, "fails"),
    "its lower bound is the threshold itself": (-0.020, -0.005, "fails"),
    "a drop is proven, but not one of that much": (-0.020, -0.004, "inconclusive"),
    "the interval holds the threshold and 0": (-0.020, 0.010, "inconclusive"),
    "its upper bound is the threshold itself": (-0.005, 0.010, "inconclusive"),
    "a drop is proven, and that it is smaller": (-0.0049, -0.001, "passes"),
    "nothing is proven, but that a drop is smaller": (-0.004, 0.010, "passes"),
    "a rise is proven": (0.001, 0.020, "passes"),
    "there is no interval": (None, None, "inconclusive"),
}


@pytest.mark.parametrize(("low", "high", "outcome"), TABLE.values(), ids=TABLE)
def test_a_drop_is_decided_by_its_interval(low: float | None, high: float | None, outcome: str) -> None:
    decision = decide(parse_rule("recall_any@10 drops 0.005"), measured(low, high))
    assert decision.outcome == outcome
    assert (decision.low, decision.high) == (None if high is None else -high, None if low is None else -low)


def test_reasons_say_the_interval_of_the_drop() -> None:
    rule = parse_rule("recall_any@10 drops 0.005")
    reason = "the drop is between +0.0060 and +0.0200: at least 0.005"
    assert decide(rule, measured(-0.02, -0.006)).reason == reason
    assert decide(rule, measured(None, None)).reason == "there is no interval: all clusters equal"


def test_an_inconclusive_reason_names_a_large_cluster() -> None:
    rule = parse_rule("recall_any@10 drops 0.005")
    reason = "the drop is between -0.0100 and +0.0200, and 0.005 lies within"
    assert decide(rule, measured(-0.02, 0.01, largest=0.29)).reason == reason
    assert decide(rule, measured(-0.02, 0.01, largest=0.7)).reason == (
        f"{reason}; one of the 10 clusters holds 70% of the questions"
    )


def test_where_no_question_differs_there_is_no_drop() -> None:
    decision = decide(parse_rule("recall_any@10 drops 0.005"), measured(None, None, wins=0, losses=0, difference=0.0))
    assert (decision.outcome, decision.reason) == ("passes", "no question's value differs")


def outcomes(*names: str) -> list[ConditionPart]:
    intervals = {"fails": (-0.02, -0.006), "inconclusive": (-0.02, 0.01), "passes": (-0.004, 0.01)}
    return [decide(parse_rule("recall_any@10 drops 0.005"), measured(*intervals[name])) for name in names]


EXITS = {
    "nothing is asked, nothing fell": ((), [], 0, 0),
    "nothing is asked, a primary measure fell": ((), ["mrr@50"], 1, 1),
    "all pass": (("passes", "passes"), [], 0, 0),
    "all pass, and what is asked decides, not the test": (("passes",), ["recall_any@10"], 0, 0),
    "one is inconclusive": (("passes", "inconclusive"), [], 0, 1),
    "one fails": (("fails", "passes"), [], 1, 1),
    "one fails, one is inconclusive": (("inconclusive", "fails"), [], 1, 1),
}


@pytest.mark.parametrize(("names", "fallen", "plain", "strict"), EXITS.values(), ids=EXITS)
def test_the_exit_code_follows_conditions_and_regressions(
    names: tuple[str, ...], fallen: list[str], plain: int, strict: int
) -> None:
    assert exit_code(outcomes(*names), fallen, strict=False) == plain
    assert exit_code(outcomes(*names), fallen, strict=True) == strict


def test_a_regression_is_a_primary_measure_that_fell_after_correction() -> None:
    assert regressions([measured(-0.02, -0.006, p_holm=0.05)]) == ["recall_any@10"]
    assert regressions([measured(-0.02, -0.006, p_holm=0.0501)]) == []
    assert regressions([measured(-0.02, -0.006, p_holm=None, role="secondary")]) == []
    assert regressions([measured(0.006, 0.02, difference=0.01)]) == []


def test_a_floor_looks_at_the_second_value_alone() -> None:
    part = measured(-0.02, -0.006, second=0.89)
    reached, missed = (decide(parse_rule(f"recall_any@10 below {floor}"), part) for floor in (0.89, 0.8901))
    assert (reached.outcome, reached.reason, reached.low, reached.high) == ("passes", "it is 0.8900", None, None)
    assert (missed.outcome, missed.condition) == ("fails", "recall_any@10 below 0.8901")


def test_rules_are_parsed_from_words_and_signs() -> None:
    floors = ("at_least 0.9", "below 0.9", ">= 0.9", "< .9", ">=0.9", "<0.9")
    assert {parse_rule(f"mrr@50 {floor}") for floor in floors} == {parse_rule("mrr@50 at_least 9e-1")}
    assert parse_rule("mrr@50>=0").threshold == 0.0
    # A failure states what must not be.
    assert parse_failures(["mrr@50 < 0.9"], strict=True) == [parse_rule("mrr@50 >= 0.9")]
    for text in ("mrr@50 >= 0.9", "mrr@50 at_least 0.9"):
        with pytest.raises(UsageError, match="says what must hold"):
            parse_failures([text], strict=False)

    for text in ("recall_any@10 drops 0.005", "  recall_any@10  drops by .005 ", "recall_any@10 drops 5e-3"):
        assert str(parse_rule(text)) == "recall_any@10 drops 0.005"
    assert parse_rule("precision@10(retrieved) drops 1").threshold == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "", "recall_any@10", "recall_any@10 drops", "recall_any@10 drops 0", "recall_any@10 drops -0.1",
        "recall_any@10 drops nan", "recall_any@10 drops 0.5%", "recall_any@10 drops 5", "recall_any@10 rises 0.1",
        "recall_any@10 below 2", "recall_any@10 <= 0.5",
        "recall_any@10 at_least -1", "recall@10 drops 0.005", "recall_any drops 0.005", "recall_any@0 drops 0.1",
    ],
)  # fmt: skip
def test_invalid_rules_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_rule(text)


@pytest.mark.parametrize(
    ("text", "read", "value", "baseline", "holds"),
    [
        ("recall_any@10 >= baseline", "recall_any@10 >= baseline", 0.8, 0.8, True),
        ("recall_any@10 at_least 0.9", "recall_any@10 >= 0.9", 0.8, None, False),
        ("p95 < 20ms", "p95 < 20ms", 20.0, None, False),
        ("p95 <= 20 ms", "p95 <= 20ms", 20.0, None, True),
        ("p50 < baseline", "p50 < baseline", 3.0, 4.0, True),
        ("usd_per_1000 below 0.5", "usd_per_1000 < 0.5", 0.4, None, True),
        ("usd_per_1000 < 0.5", "usd_per_1000 < 0.5", None, None, False),
    ],
)
def test_a_gate_is_a_floor_of_a_measure_or_a_limit_of_time_and_money(
    text: str, read: str, value: float | None, baseline: float | None, holds: bool
) -> None:
    requirement = parse_requirement(text)
    assert str(requirement) == read
    assert requirement.keeps(value, baseline) is holds


@pytest.mark.parametrize(
    "text", ["recall_any@10 < 0.9", "p95 >= 20ms", "p95 < 20usd", "p95 < 0ms", "recall_any@10 >= 1.5", "p96 < 1", "p95"]
)
def test_a_gate_that_is_none_or_that_nothing_keeps_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_requirement(text)
