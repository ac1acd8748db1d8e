"""Which decides where the interval of a difference and its p say different things."""

from __future__ import annotations

from typing import Protocol

from recallbench.reports.comparison import LEVEL, DifferencePart, p_text


class Tested(Protocol):
    """A difference with its interval and its test."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def p(self) -> float: ...
    @property
    def smallest_p(self) -> float: ...


def deciding(tested: Tested, corrected: float, tests: int, unit: str) -> str:
    """Return that p decides, and why, where one of interval and corrected p tells a difference and the other does not.

    `tests` is how many p are corrected for, `unit` what is flipped as a whole. Empty where both say the same.
    """
    if tested.low is None or tested.high is None:
        return ""
    excluded = tested.low > 0 or tested.high < 0
    if excluded == (corrected <= LEVEL):
        return ""
    why = "it presumes no distribution"
    if excluded and (least := min(1.0, tested.smallest_p * tests)) > LEVEL:
        why = f"so few {unit} differ that the least p is {p_text(least)}"
    elif excluded and tested.p <= LEVEL:
        why = f"it is corrected for {tests} tests"
    return f"the interval {'excludes' if excluded else 'includes'} 0, yet p decides: {why}"


def disagreement(part: DifferencePart, tests: int = 1) -> str:
    """Return which of interval and p decides on a difference, where they disagree."""
    return deciding(part, part.corrected_p, tests, part.unit)


def why_shown(part: DifferencePart, tests: int = 1) -> str:
    """Return by what a difference is shown: by p alone, by p against the interval, or by both."""
    if part.low is None or part.high is None:
        return "p decides: there is no interval"
    return disagreement(part, tests) or "p and interval agree"
