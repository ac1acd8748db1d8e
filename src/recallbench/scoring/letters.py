"""Letters for what a test can't tell apart: two that share a letter may be equal, two that share none differ."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from string import ascii_lowercase


def shared_letters(size: int, different: Iterable[tuple[int, int]]) -> list[str]:
    """Return the letters of `size` things, best first, of which these pairs differ.

    The groups are the largest ones without a pair that differs, so that no letter is there in vain.
    """
    groups = [frozenset(range(size))]
    for first, second in different:
        split: list[frozenset[int]] = []
        for group in groups:
            split += [group - {first}, group - {second}] if {first, second} <= group else [group]
        groups = [group for group in dict.fromkeys(split) if not any(group < other for other in split)]
    letters = [""] * size
    for name, group in zip(_names(), sorted(groups, key=sorted), strict=False):
        for thing in group:
            letters[thing] += name
    return letters


def _names() -> Iterable[str]:
    """Yield a to z, then a2 to z2, and so on."""
    for turn in count(1):
        for letter in ascii_lowercase:
            yield letter if turn == 1 else f"{letter}{turn}"
