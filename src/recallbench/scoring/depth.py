"""The bound of every k and depth."""

from __future__ import annotations

from recallbench.errors import UsageError

DEEPEST = 10_000
"""The largest k and depth: nobody reads further, and a typing error is refused."""
SHOWN = 20
"""Digits of a number shown in an error."""


def depth_of(k: object, what: str = "k is how many hits are asked for") -> int:
    """Return k; raises UsageError, opening with `what`, where it is no whole number from 1 to `DEEPEST`."""
    if isinstance(k, int) and not isinstance(k, bool) and 1 <= k <= DEEPEST:
        return k
    # Python refuses to write a number of thousands of digits.
    shown = "a number of too many digits" if isinstance(k, int) and k.bit_length() > 64 else repr(k)
    if isinstance(k, int) and not isinstance(k, bool):
        shown += ", which is too small" if k < 1 else ", which is too large"
    raise UsageError(what, expected=f"a whole number from 1 to {DEEPEST:,}", found=shown)


def depth_in(digits: str, what: str = "k is how many hits are asked for") -> int:
    """Return the k in these digits; raises UsageError as `depth_of` does."""
    if len(digits) > SHOWN:
        raise UsageError(what, expected=f"a whole number from 1 to {DEEPEST:,}", found=f"{digits[:SHOWN]}…")
    return depth_of(int(digits), what)
