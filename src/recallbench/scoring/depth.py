"""How deep rankings are looked at: the one bound of every k and depth."""

from __future__ import annotations

from recallbench.errors import UsageError

DEEPEST = 10_000
"""No k, and no depth of a ranking, is larger: nobody reads further, and a slip of the keys is refused."""
SHOWN = 20
"""Digits of a number that are told."""


def depth_of(k: object, what: str = "k is how many hits are asked for") -> int:
    """The k, if it is one; raises UsageError, opening with `what`, for what is none and for one beyond `DEEPEST`."""
    if isinstance(k, int) and not isinstance(k, bool) and 1 <= k <= DEEPEST:
        return k
    # Python does not write out a number of thousands of digits.
    found = "a number of too many digits" if isinstance(k, int) and k.bit_length() > 64 else repr(k)
    raise UsageError(what, expected=f"a whole number from 1 to {DEEPEST:,}", found=found)


def depth_in(digits: str, what: str = "k is how many hits are asked for") -> int:
    """The k that is written there, as `depth_of`; nor does Python read a number of thousands of digits."""
    if len(digits) > SHOWN:
        raise UsageError(what, expected=f"a whole number from 1 to {DEEPEST:,}", found=f"{digits[:SHOWN]}…")
    return depth_of(int(digits), what)
