"""The tokens of a text: its words, lower-cased, without punctuation and symbols."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection


def words(text: str) -> list[str]:
    """The tokens in their order."""
    return text.lower().translate(_MARKS).split()


def overlap(left: Collection[str], right: Collection[str]) -> float:
    """2 |A and B| / (|A| + |B|) of two sets; 0 for an empty one."""
    both = len(frozenset(left) & frozenset(right))
    return 2.0 * both / (len(left) + len(right)) if both else 0.0


class _Marks(dict[int, int | None]):
    """A table that takes punctuation and symbols out; a mark that belongs to a letter (an accent, a vowel sign)
    stays."""

    def __missing__(self, point: int) -> int | None:
        self[point] = None if unicodedata.category(chr(point))[0] in "PS" else point
        return self[point]


_MARKS = _Marks()
