"""The entities of texts, found without a model: names, and words that few texts have.

An entity is one word in lower case. A word is a name where it stands with a capital within a sentence; at the
beginning of one, or of a line, a capital says nothing. Any other word of four letters or more is an entity where no
more than a quarter of the scope's texts have it. A text keeps 32: names and what it comes back to before what it says
once, and of either the rarest. So a note of one sentence keeps all it has, and a long session what it is about.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WORD = re.compile(r"[^\W\d_][^\W_]*(?:['’][^\W_]+)?")
BEGINS = ("", ".", "!", "?", ":", "\n", "…")
"""The characters that a sentence begins behind."""
SHORTEST_WORD = 4
SHORTEST_NAME = 2
AT_LEAST = 2
"""Times that a text has a word it keeps coming back to."""
RARE = 0.25
"""Share of the scope's texts that may have such a word."""
MOST = 32
LONGEST = 64
"""The most characters of a word; anything longer is data."""
UNIT = 1000
"""Weights are whole: sums of them are the same in whatever order a server adds."""


@dataclass(frozen=True, slots=True)
class Entities:
    """The entities of each text of a scope, and the weight of each."""

    mentions: tuple[tuple[str, ...], ...]
    weights: Mapping[str, int]


def entities(texts: Sequence[str]) -> Entities:
    """The entities of one scope; the same for the same texts, whatever else there is."""
    counts = [Counter(map(plain, words(text))) for text in texts]
    spread = Counter(word for count in counts for word in count)
    named = {name for text in texts for name in names(text)}
    mentions = []
    for count in counts:
        first = {word for word, times in count.items() if word in named or times >= AT_LEAST}
        chosen = [word for word in count if word in named or _is_rare(word, spread, len(texts))]
        chosen.sort(key=lambda word: (word not in first, spread[word], word))
        mentions.append(tuple(sorted(chosen[:MOST], key=lambda word: (spread[word], word))))
    used = {word for chosen in mentions for word in chosen}
    return Entities(tuple(mentions), {word: _weight(spread[word], len(texts)) for word in sorted(used)})


def question_words(text: str) -> list[str]:
    """Every word of a question, as entities are written; which of them are entities the graph knows."""
    return sorted({plain(word) for word in words(text)})


def words(text: str) -> list[str]:
    """The words as they stand."""
    return [word for word in WORD.findall(text) if len(word) <= LONGEST]


def names(text: str) -> set[str]:
    """The words with a capital that stand within a sentence."""
    capitalised = set()
    for match in WORD.finditer(text):
        word = match[0]
        inside = _before(text, match.start()) not in BEGINS
        if inside and word[0].isupper() and SHORTEST_NAME <= len(word) <= LONGEST:
            capitalised.add(plain(word))
    return capitalised


def plain(word: str) -> str:
    """A word as an entity is written."""
    folded = unicodedata.normalize("NFKC", word).casefold().replace("’", "'")
    return folded.removesuffix("'s")


def _before(text: str, place: int) -> str:
    while place and text[place - 1] in " \t\"'“‘(":
        place -= 1
    return text[place - 1 : place] if place else ""


def _is_rare(word: str, spread: Mapping[str, int], texts: int) -> bool:
    # Among three texts or fewer, what one alone has is rare enough.
    return len(word) >= SHORTEST_WORD and spread[word] <= max(1, RARE * texts)


def _weight(texts_with: int, texts: int) -> int:
    """Return how rare a word is: 0 for one that every text has."""
    return round(UNIT * math.log(texts / texts_with))
