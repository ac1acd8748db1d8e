"""Did it get worse? Every rule that decides it, and the one language in which a rule is written.

    recall_any@10 at_least 0.95     must hold; also `recall_any@10 >= 0.95`
    recall_any@10 below 0.95        must not be, which is the same rule; also `recall_any@10 < 0.95`
    recall_any@10 drops 0.005       must not be: a fall of that much from a baseline

A floor looks at the value alone. A drop is the first value minus the second. Its 95% interval decides:

    the whole interval at or above the threshold    fails: a drop of at least that much is proven
    the whole interval below the threshold          passes: such a drop is excluded
    the threshold inside, or no interval            inconclusive: too few questions to tell

Where no question's value differs, there is no drop, and the rule passes. Where questions depend on each other, the
interval is that of sign flips of whole clusters (`scoring/sign_flips.py`): a drop is wrongly proven in at most
2.5% of comparisons, however unequal clusters are.

A test has few cases, each of them chosen. So where the interval of a drop is inconclusive, the cases may decide: the
rule fails where the mean dropped by the threshold, and so did every case above 0. Without an interval, a mean that did
not fall passes. Where no drop is named, a measure is ruled on by this:

    it fell at a corrected p of .05 or less        fails
    every case that was above 0 is lower           fails, however few there are
    the whole interval lies below zero             fails where no p of .05 could be reached, else inconclusive
    any other fall                                 inconclusive where no p of .05 could be reached, else passes
    the mean did not fall                          passes

The least p that could be reached is that of all changed cases moving the same way, times the number of measures that
Holm corrects for: with four measures, seven changed cases can't reach .05.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from recallbench.errors import UsageError
from recallbench.reading import finite_number
from recallbench.reports.comparison import LEVEL, ConditionPart, DifferencePart, MeasuredPart, why_no_interval
from recallbench.scoring.judgement import Bools, Floats
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import parse

FORM = "recall_any@10 drops 0.005"
UNEQUAL = 0.3
"""A cluster with at least this share of the questions is reported, since the test hangs on its sign."""
ROUNDING = 1e-9
"""The last digits of a mean differ from one processor to the next."""
Outcome = Literal["passes", "fails", "inconclusive"]
_TEXT = re.compile(
    r"(?P<measure>\S+?)\s*(?P<word>\sdrops(?:\s+by)?\s|\sat_least\s|\sbelow\s|>=|<)\s*(?P<threshold>\S+)"
)
_FLOORS = ("at_least", ">=", "below", "<")


BASELINE = "baseline"
_REQUIRED = re.compile(
    r"(?P<name>\S+?)\s*(?P<word>\sat_least\s|\sbelow\s|>=|<=|<)\s*(?P<bound>baseline|\S+?)\s*(?P<unit>ms|usd)?"
)
_LATENCIES = ("p50", "p95", "p99")
USD_PER_1000 = "usd_per_1000"


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a configuration must keep to be chosen: a floor of a measure, or a limit of a latency or a cost."""

    name: str
    """A measure, p50, p95 or p99 in milliseconds, or usd_per_1000."""
    measure: Measure | None
    bound: float | None
    """None for that of the baseline."""
    inclusive: bool
    """Whether the bound itself keeps it."""

    def __str__(self) -> str:
        word = ">=" if self.measure is not None else "<=" if self.inclusive else "<"
        unit = "ms" if self.name in _LATENCIES and self.bound is not None else ""
        return f"{self.name} {word} {BASELINE if self.bound is None else f'{self.bound:g}'}{unit}"

    def keeps(self, value: float | None, baseline: float | None) -> bool:
        """Return whether this value keeps it; one that is not known does not."""
        bound = baseline if self.bound is None else self.bound
        if value is None or bound is None:
            return False
        if self.measure is not None:
            return keeps_floor(value, bound)
        return value <= bound if self.inclusive else value < bound


@dataclass(frozen=True, slots=True)
class Rule:
    """A floor that a measure must keep, or a drop from first to second that must not be."""

    measure: Measure
    word: Literal["at_least", "drops"]
    threshold: float

    def __str__(self) -> str:
        return f"{self.measure} {'drops' if self.word == 'drops' else 'below'} {self.threshold:g}"


def parse_rule(text: str, parse_measure: Callable[[str], Measure] = parse) -> Rule:
    """Return the rule that a text states; raises UsageError for any other text."""
    match = _TEXT.fullmatch(text.strip())
    word = match["word"].split()[0] if match else ""
    threshold = _share(match["threshold"], zero=word in _FLOORS) if match else None
    if match is None or threshold is None:
        raise UsageError(
            f"the rule {text!r} can't be understood",
            expected="MEASURE drops SHARE, with a share above 0 and up to 1, or MEASURE at_least VALUE, or "
            "MEASURE below VALUE, with a value from 0 to 1",
            found=text,
            remedy=f"write it as '{FORM}' or 'recall_any@10 below 0.9'",
        )
    return Rule(parse_measure(match["measure"]), "at_least" if word in _FLOORS else "drops", threshold)


def parse_requirement(text: str) -> Requirement:
    """Return the requirement that a text states; raises UsageError for any other, and for one that nothing can keep."""
    match = _REQUIRED.fullmatch(text.strip())
    if match is None:
        raise _no_requirement(text)
    name, word, of_baseline = match["name"], match["word"].strip(), match["bound"] == BASELINE
    if name in (*_LATENCIES, USD_PER_1000):
        bound = None if of_baseline else finite_number(match["bound"])
        if word in ("at_least", ">=") or match["unit"] not in (None, "ms" if name in _LATENCIES else "usd"):
            raise _no_requirement(text)
        if not of_baseline and (bound is None or bound <= 0):
            raise UsageError(
                f"nothing can keep {text!r}", expected="a limit above 0", found=match["bound"], remedy="raise the limit"
            )
        return Requirement(name, None, bound, word == "<=")
    if word in ("below", "<", "<=") or match["unit"]:
        raise _no_requirement(text)
    floor = None if of_baseline else _share(match["bound"], zero=True)
    if floor is None and not of_baseline:
        if (finite_number(match["bound"]) or 0.0) > 1:
            raise UsageError(f"nothing can keep {text!r}", expected="a floor from 0 to 1", found=match["bound"])
        raise _no_requirement(text)
    return Requirement(name, parse(name), floor, inclusive=True)


def parse_failures(texts: Sequence[str], strict: bool) -> list[Rule]:
    """Return the rules of every --fail-if; raises UsageError also for --strict without one."""
    if strict and not texts:
        raise UsageError(
            "--strict goes with --fail-if", expected=f"--fail-if '{FORM}' --strict", found="--strict alone"
        )
    return list(map(_parse_failure, texts))


def keeps_floor(value: float, floor: float) -> bool:
    """Return whether a value is at least the floor."""
    return value >= floor - ROUNDING


def is_out_of_reach(floor: float, ceiling: float) -> bool:
    """Return whether not even an oracle, which reaches the ceiling, keeps the floor."""
    return floor > ceiling + ROUNDING


def decide(rule: Rule, measured: MeasuredPart) -> ConditionPart:
    """Return whether the second of two results keeps the rule, and why."""
    low = high = None
    outcome: Outcome
    if rule.word == "at_least":
        holds = keeps_floor(measured.second, rule.threshold)
        outcome, reason = "passes" if holds else "fails", f"it is {measured.second:.4f}"
    else:
        low = None if measured.high is None else -measured.high
        high = None if measured.low is None else -measured.low
        outcome, reason = _decide_drop(rule.threshold, measured, low, high)
    return ConditionPart(
        condition=str(rule),
        measure=str(rule.measure),
        threshold=rule.threshold,
        low=low,
        high=high,
        outcome=outcome,
        reason=reason,
    )


def decide_by_case(rule: Rule, measured: MeasuredPart, first: Floats, second: Floats) -> ConditionPart:
    """Decide a rule over few cases: where the interval is inconclusive, the cases themselves may decide."""
    decided = decide(rule, measured)
    if decided.outcome != "inconclusive":
        return decided
    outcome: Outcome = decided.outcome
    reason = decided.reason
    least = float((first - second)[above_zero(first, second)].min())
    if min(-measured.difference, least) >= rule.threshold - ROUNDING:
        outcome, reason = "fails", f"every case that could drop did, by {least:.4f} or more"
    elif measured.low is None and measured.difference >= 0:
        outcome, reason = "passes", "the mean did not fall"
    return decided.model_copy(update={"outcome": outcome, "reason": reason})


@dataclass(frozen=True, slots=True)
class Ruling:
    """The outcome for a measure of few cases where no drop is named."""

    outcome: Outcome
    word: str
    """The outcome in a report's words."""
    why: str = ""
    """Why it fails; empty otherwise."""


def rule_on(part: DifferencePart, measures: int, above: int) -> Ruling:
    """Return the ruling on the difference of a measure.

    Holm corrects for this number of `measures` (0: it is not tested); `above` is the number of cases above 0.
    """
    if not part.moved:
        return Ruling("passes", change_word(part))
    proven = part.p_holm is not None and part.p_holm <= LEVEL
    reachable = measures > 0 and part.smallest_p * measures <= LEVEL
    if part.difference >= 0:
        higher = part.low is not None and part.low > 0
        unproven = f"higher, though not at a corrected p of {LEVEL}" if higher else "no difference shown"
        return Ruling("passes", "helped" if proven else unproven)
    if proven:
        return Ruling("fails", "hurt", f"at a corrected p of at most {LEVEL}")
    if part.losses == above:
        which = "the only case" if above == 1 else f"every one of {above} cases"
        return Ruling("fails", "hurt", f"in {which}{' that found something' if above < part.n else ''}")
    lower = part.high is not None and part.high < 0
    if lower and not reachable:
        why = f"its whole interval is below zero, and so few changed cases can't reach a corrected p of {LEVEL}"
        return Ruling("fails", "hurt", why)
    if lower:
        return Ruling("inconclusive", f"lower by its interval, though not at a corrected p of {LEVEL}")
    return Ruling("passes", "no difference shown") if reachable else Ruling("inconclusive", "lower, inconclusive")


def above_zero(first: Floats, second: Floats) -> Bools:
    """Return which cases found something, before or after."""
    return (first > 0) | (second > 0)


def regressions(measures: Sequence[MeasuredPart]) -> list[str]:
    """Return the primary measures that fell, by the corrected test."""
    return [
        measure.measure
        for measure in measures
        if measure.difference < 0 and measure.p_holm is not None and measure.p_holm <= LEVEL
    ]


def is_lower(part: DifferencePart) -> bool:
    """Return whether a measure fell by test and interval; without an interval (all fell alike) by the test alone."""
    return part.p <= LEVEL and part.difference < 0 and (part.high is None or part.high < 0)


def movement_word(low: float | None, high: float | None) -> str:
    """Return a difference in a word: an improvement has its whole interval above zero."""
    if low is not None and low > 0:
        return "improvement"
    return "lower" if high is not None and high < 0 else "no difference shown"


def change_word(part: DifferencePart) -> str:
    """Return `helped` or `hurt` by the corrected test; not settled where only the uncorrected interval says so."""
    if not part.moved:
        return "no case changed"
    if part.p_holm is not None and part.p_holm <= LEVEL:
        return "helped" if part.difference > 0 else "hurt"
    if part.excludes_0:
        return f"not settled: the interval excludes 0, the corrected p does not reach {LEVEL:g}"
    return "no difference shown"


def exit_code(conditions: Sequence[ConditionPart], fallen: Sequence[str], *, strict: bool) -> int:
    """Return 1 if a condition fails (with `strict`, also if inconclusive), or if without conditions a measure fell."""
    if not conditions:
        return 1 if fallen else 0
    failing = ("fails", "inconclusive") if strict else ("fails",)
    return 1 if any(condition.outcome in failing for condition in conditions) else 0


def _parse_failure(text: str) -> Rule:
    """Return the rule of a --fail-if; raises UsageError for a text that says what must hold."""
    rule = parse_rule(text)
    if rule.word == "at_least" and re.search(r"\sat_least\s|>=", text):
        raise UsageError(
            f"--fail-if {text!r} says what must hold",
            expected="what must not be",
            found=text,
            remedy=f"--fail-if '{rule}'",
        )
    return rule


def _decide_drop(
    threshold: float, measured: MeasuredPart, low: float | None, high: float | None
) -> tuple[Outcome, str]:
    if not measured.moved:
        return "passes", "no question's value differs"
    if low is None or high is None:
        return "inconclusive", f"there is no interval: {why_no_interval(measured.method)}"
    between = f"the drop is between {low:+.4f} and {high:+.4f}"
    if low >= threshold:
        return "fails", f"{between}: at least {threshold:g}"
    if high < threshold:
        return "passes", f"{between}: below {threshold:g}"
    uneven = ""
    if measured.largest is not None and measured.largest >= UNEQUAL:
        uneven = f"; one of the {measured.clusters} clusters holds {measured.largest:.0%} of the questions"
    return "inconclusive", f"{between}, and {threshold:g} lies within{uneven}"


def _no_requirement(text: str) -> UsageError:
    return UsageError(
        f"the gate {text!r} can't be understood",
        expected="MEASURE >= VALUE, p50, p95 or p99 < MILLISECONDS, or usd_per_1000 < USD; any value may be `baseline`",
        found=text,
        remedy="write it as 'recall_any@10 >= baseline' or 'p95 < 20ms'",
    )


def _share(text: str, *, zero: bool) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and (0 < value <= 1 or (zero and value == 0)) else None
