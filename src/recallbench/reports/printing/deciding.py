"""Which decides where the interval of a difference and its p say different things."""

from __future__ import annotations

LEVEL = 0.05


def deciding(
    bounds: tuple[float | None, float | None], p: float, corrected: float, tests: int, smallest: float = 0.0
) -> str:
    """Return that p decides, and why, where one of interval and corrected p tells a difference and the other does not.

    `tests` is how many p are corrected for, `smallest` the least that could have come out of one. Empty where both
    say the same.
    """
    low, high = bounds
    if low is None or high is None or (excluded := low > 0 or high < 0) == (corrected <= LEVEL):
        return ""
    if not excluded:
        return "the interval includes 0, yet p decides: it presumes no distribution"
    if smallest > LEVEL:
        return f"the interval excludes 0, yet p decides, and with so few clusters it can't be below {smallest:.2g}"
    if p <= LEVEL:
        return f"the interval excludes 0, yet p decides: it is corrected for {tests} tests"
    return "the interval excludes 0, yet p decides: it presumes no distribution"
