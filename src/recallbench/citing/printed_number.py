"""Numbers as texts print them, beside the exact ones that they stand for."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

from recallbench.citing.rule_words import Bound

ROUGHLY = 0.01
"""How far a value may lie from what it is said to be about: a point."""
FEWEST = 2
"""Decimals that a figure needs: with fewer, 0.95 and 1 are the same."""


def number(text: str) -> tuple[float, int]:
    """Return a printed figure as a share, and its decimals."""
    digits = re.sub(r"[^\d.,]", "", text).replace(",", ".")
    value, decimals = float(digits), len(digits.partition(".")[2])
    return (value / 100, decimals + 2) if re.search(r"%|p", text, re.IGNORECASE) else (value, decimals)


def is_same(stated: float | None, printed: str) -> bool:
    """Return whether a text prints this number, rounded."""
    value, digits = number(printed)
    return stated is not None and abs(stated - value) <= 0.5 * 10.0**-digits + 1e-9


def holds(stated: float | None, bound: Bound, printed: str) -> bool:
    """Return whether a text prints this number, or a bound that it keeps as reports print it, with four decimals."""
    if stated is None or bound in ("", "up to"):
        return is_same(stated, printed)
    value, digits = number(printed)
    if bound == "about":
        return abs(stated - value) <= max(ROUGHLY, 0.5 * 10.0**-digits) + 1e-9
    return _COMPARES[bound](round(stated, max(4, digits)), value)


_COMPARES: dict[Bound, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}


def count(text: str) -> int:
    """Return a printed whole number, whatever parts its thousands."""
    return int(re.sub(r"\D", "", text))
