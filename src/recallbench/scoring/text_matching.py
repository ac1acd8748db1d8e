"""Whether a text says what was expected: token F1, the same words, and how often a text matches that should not.

The tokens of a text are its words, lower-cased, without punctuation and symbols; F1 is over sets, so that neither
order nor repetition counts. Token F1 alone decides: a text that holds a short answer among many words does not match.
Against a long text an answer stays below any threshold by length alone, which is what chunks are for: one of c tokens
reaches at most 2n / (n + c) with an answer of n, .154 for 5 in 60 and .333 for 5 in 25. Scripts that put no blanks
between words make one token of a sentence: match such texts by id.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from recallbench.corpora.records import RandomMatches as RandomMatches
from recallbench.errors import UsageError

Method = Literal["id", "exact", "tokens"]
DEFAULT, STRICT, EXPLORATORY = 0.3, 0.5, 0.1
SENSITIVITY = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
"""Thresholds that a result is shown at, beside its own."""
DRAWS, SEED = 2000, 42


@dataclass(frozen=True, slots=True)
class Matching:
    """What makes a hit relevant. Its text names it in every output; numbers of two methods are never compared."""

    method: Method = "id"
    threshold: float = DEFAULT
    """Token F1 from which a text matches; `tokens` alone reads it."""
    chunk: int | None = None
    """Tokens of a chunk; None matches whole texts."""

    def __post_init__(self) -> None:
        if self.method not in ("id", "exact", "tokens"):
            raise UsageError("unknown way to match", expected="id, exact or tokens", found=repr(self.method))
        if not 0 < self.threshold <= 1:
            raise UsageError(
                "a threshold of token F1 lies between 0 and 1",
                expected=f"above 0, at most 1: {DEFAULT} by default, {STRICT} strict, {EXPLORATORY} exploratory",
                found=str(self.threshold),
            )
        if self.chunk is not None and self.chunk < 1:
            raise UsageError("a chunk has tokens", expected="1 or more", found=str(self.chunk))
        if self.method == "id" and self.chunk is not None:
            raise UsageError("ids have no chunks", expected="matching by tokens or exact", found=f"chunk {self.chunk}")

    def __str__(self) -> str:
        parts = [f"tokens f1>={self.threshold:g}" if self.method == "tokens" else self.method]
        return ", ".join([*parts, f"chunk {self.chunk}"] if self.chunk else parts)

    @property
    def by_text(self) -> bool:
        """Relevance follows from what a hit says, not from which one it is."""
        return self.method != "id"

    def longest_chunk(self, expected: str) -> int:
        """The most distinct words a text may have in which this answer still reaches the threshold."""
        count = len(frozenset(words(expected)))
        most = int(count * (2 / self.threshold - 1)) + 1
        return most if 2.0 * count / (count + most) >= self.threshold else most - 1

    def out_of_reach(self, expected: Iterable[str]) -> str | None:
        """What to say of answers so short that no text of a chunk's length could match them; None without any."""
        chunk = self.chunk
        if self.method != "tokens" or chunk is None:
            return None
        longest = [self.longest_chunk(one) for one in expected]
        short = sum(one < chunk for one in longest)
        if not short:
            return None
        return (
            f"{short} of {len(longest)} expected texts are too short for chunks of {chunk} tokens: whatever fills one "
            f"stays below token F1 {self.threshold:g}, and only shorter texts can match; --match-chunk "
            f"{max(1, min(longest))} lets the shortest match"
        )


def words(text: str) -> list[str]:
    """The tokens in their order."""
    return text.lower().translate(_MARKS).split()


def token_f1(expected: str, text: str) -> float:
    """F1 of the two sets of tokens: 0 when nothing overlaps, 1 when they are the same set."""
    return overlap(frozenset(words(expected)), frozenset(words(text)))


def overlap(one: Collection[str], other: Collection[str]) -> float:
    """2 |A and B| / (|A| + |B|) of two sets; 0 for an empty one."""
    both = len(frozenset(one) & frozenset(other))
    return 2.0 * both / (len(one) + len(other)) if both else 0.0


class Read:
    """A text read once, to be held against many expected ones."""

    def __init__(self, text: str, chunk: int | None = None, *, whole: bool = False) -> None:
        """`whole`: only the same text says what another does, as results had it before a part of one did."""
        self.words = words(text)
        self.chunk = chunk
        self.whole = whole

    @cached_property
    def chunks(self) -> tuple[frozenset[str], ...]:
        """The sets of tokens that are matched: of the whole, or of its chunks.

        A chunk starts at each half of the one before, so that an answer is whole in one of them unless it is longer
        than half a chunk.
        """
        if self.chunk is None or len(self.words) <= self.chunk:
            return (frozenset(self.words),)
        step, last = max(1, self.chunk // 2), len(self.words) - self.chunk
        starts = [*range(0, last, step), last]
        return tuple(frozenset(self.words[start : start + self.chunk]) for start in starts)

    @cached_property
    def line(self) -> str:
        """The tokens with a blank around each, so that a run of words is found as a whole."""
        return f" {' '.join(self.words)} "

    def f1(self, expected: Read) -> float:
        """The token F1 of the best chunk."""
        wanted = frozenset(expected.words)
        return max(overlap(wanted, chunk) for chunk in self.chunks)

    def says(self, expected: Read) -> bool:
        """Its words in their order, anywhere in the text."""
        if self.whole:
            return bool(expected.words) and expected.words == self.words
        return bool(expected.words) and expected.line in self.line


@dataclass(frozen=True, slots=True)
class Likeness:
    """How near one retrieved text comes to the expected one."""

    exact: bool
    f1: float

    def matches(self, matching: Matching, threshold: float | None = None) -> bool:
        """Whether the text counts as relevant, at the method's own threshold or another."""
        if matching.method == "exact":
            return self.exact
        return self.f1 >= (matching.threshold if threshold is None else threshold)


def likeness(expected: Read, text: Read) -> Likeness:
    """Both ways of matching at once."""
    exact = text.says(expected)
    return Likeness(exact, text.f1(expected))


def first_match(likenesses: Sequence[Likeness], matching: Matching, threshold: float | None = None) -> int | None:
    """The place, from 0, of the first text that matches; None where none does."""
    return next((i for i, one in enumerate(likenesses) if one.matches(matching, threshold)), None)


def random_matches(
    expected: Sequence[Read],
    pool: Sequence[Read],
    relevant: Sequence[Collection[int]],
    thresholds: Sequence[float] = SENSITIVITY,
    draws: int = DRAWS,
) -> RandomMatches:
    """The match rate of up to `draws` random pairs, seed 42; `relevant` are the texts of the pool not to be drawn.

    A rate near the share of questions that a method finds says that the threshold lets anything through.
    """
    rng = np.random.default_rng(SEED)
    found: list[Likeness] = []
    for _ in range(4 * draws if expected and pool else 0):
        if len(found) == draws:
            break
        asked, drawn = int(rng.integers(len(expected))), int(rng.integers(len(pool)))
        if drawn not in relevant[asked]:
            found.append(likeness(expected[asked], pool[drawn]))
    if not found:
        return RandomMatches(0, None, {})
    at = {t: sum(one.f1 >= t for one in found) / len(found) for t in thresholds}
    return RandomMatches(len(found), sum(one.exact for one in found) / len(found), at)


class _Marks(dict[int, int | None]):
    """What takes punctuation and symbols out; a mark that belongs to a letter (an accent, a vowel sign) stays."""

    def __missing__(self, point: int) -> int | None:
        self[point] = None if unicodedata.category(chr(point))[0] in "PS" else point
        return self[point]


_MARKS = _Marks()
