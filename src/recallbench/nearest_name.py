"""The name that was meant by one that nothing has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches


def nearest_name(name: str, known: Iterable[str]) -> str:
    """Return that of the known names which comes nearest, in whatever case; empty where none is near.

    One that stands in the name as a word of its own comes before one that is merely spelled like it.
    """
    by_spelling = {word.lower(): word for word in known}
    spelled = name.lower()
    words = [word for word in by_spelling if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", spelled)]
    near = get_close_matches(spelled, by_spelling, 1, 0.9) or sorted(words, key=len, reverse=True)
    near = near or get_close_matches(spelled, by_spelling, 1)
    return by_spelling[near[0]] if near else ""


def you_may_mean(name: str, known: Iterable[str]) -> str:
    """Return the nearest name as the end of a sentence that says where names are listed; empty where none is near."""
    near = nearest_name(name, known)
    return f"; you may mean {near}" if near else ""
