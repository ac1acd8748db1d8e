"""Whether a text says what was expected, by one way or several in turn, and how often one matches that should not.

The tokens of a text are its words, lower-cased, without punctuation and symbols; F1 is over sets, so that neither
order nor repetition counts. Token F1 alone decides: a text that holds a short answer among many words does not match.
Against a long text an answer stays below any threshold by length alone, which is what chunks are for: one of c tokens
reaches at most 2n / (n + c) with an answer of n, .154 for 5 in 60 and .333 for 5 in 25. Scripts that put no blanks
between words make one token of a sentence: match such texts by id.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recallbench.corpora.matching.method import SENSITIVITY, Matching, Step
from recallbench.corpora.matching.tokens import overlap, words
from recallbench.corpora.records import RandomMatches
from recallbench.errors import InputError

DRAWS, SEED = 2000, 42
MOST_RANDOM = 0.2
"""The share of random texts that may match before matches say nothing."""


class ParsedText:
    """A text parsed once, to be compared with many expected ones."""

    def __init__(self, text: str, chunk: int | None = None, *, whole: bool = False) -> None:
        """`whole`: only an equal text says the same, as in older results; else a part of the text may."""
        self.words = words(text)
        self.chunk = chunk
        self.whole = whole

    @cached_property
    def chunks(self) -> tuple[frozenset[str], ...]:
        """The sets of tokens that are matched: of the whole, or of its chunks."""
        return tuple(map(frozenset, self.passages))

    @property
    def passages(self) -> tuple[list[str], ...]:
        """The tokens of the whole, or of its chunks.

        A chunk starts at each half of the one before, so that an answer is whole in one of them unless it is longer
        than half a chunk.
        """
        if self.chunk is None or len(self.words) <= self.chunk:
            return (self.words,)
        step, last = max(1, self.chunk // 2), len(self.words) - self.chunk
        starts = [*range(0, last, step), last]
        return tuple(self.words[start : start + self.chunk] for start in starts)

    @cached_property
    def line(self) -> str:
        """The tokens with a blank around each, so that a run of words is found as a whole."""
        return f" {' '.join(self.words)} "

    def f1(self, expected: ParsedText) -> float:
        """The token F1 of the best chunk."""
        expected_words = frozenset(expected.words)
        return max(overlap(expected_words, chunk) for chunk in self.chunks)

    def says(self, expected: ParsedText) -> bool:
        """Tell whether its words stand in their order anywhere in the text."""
        if self.whole:
            return bool(expected.words) and expected.words == self.words
        return bool(expected.words) and expected.line in self.line


@dataclass(frozen=True, slots=True)
class Likeness:
    """The nearness of one retrieved text to the expected one."""

    exact: bool
    f1: float
    by_id: bool = False
    """Whether it is one of the relevant ids."""
    bm25: float = 0.0
    """The score of its best passage, relative to the expected text's own."""
    cosine: float | None = None
    """None where no encoder was asked."""

    def step(self, matching: Matching) -> Step | None:
        """Return the first of the method's steps that the text matches by; None where it does not match."""
        holds: dict[Step, bool] = {
            "id": self.by_id,
            "exact": self.exact,
            "tokens": self.f1 >= matching.threshold,
            "bm25": self.bm25 >= matching.threshold,
            "cosine": self.cosine is not None and matching.cosine is not None and self.cosine >= matching.cosine,
        }
        return next((step for step in matching.steps if holds[step]), None)

    def matches(self, matching: Matching, threshold: float | None = None) -> bool:
        """Whether the text counts as relevant, at the method's own threshold or another."""
        return self.step(matching if threshold is None else matching.at(threshold)) is not None


def likeness(expected: ParsedText, text: ParsedText) -> Likeness:
    """Return how near a text comes by its words: whether it has them in their order, and its token F1."""
    exact = text.says(expected)
    return Likeness(exact, text.f1(expected))


def first_match(likenesses: Sequence[Likeness], matching: Matching, threshold: float | None = None) -> int | None:
    """The place, from 0, of the first text that matches; None where none does."""
    return next((i for i, near in enumerate(likenesses) if near.matches(matching, threshold)), None)


def random_matches(
    expected: Sequence[ParsedText],
    pool: Sequence[ParsedText],
    relevant: Sequence[Collection[int]],
    thresholds: Sequence[float] = SENSITIVITY,
    draws: int = DRAWS,
    matching: Matching | None = None,
    near: Callable[[int, int], Likeness] | None = None,
) -> RandomMatches:
    """The match rate of up to `draws` random pairs, seed 42; `relevant` are the texts of the pool not to be drawn.

    `near` compares a text of the pool with an expected one, given their places; by default by their words alone.

    A rate near the share of questions that a method finds says that the threshold lets anything through.
    """
    rng = np.random.default_rng(SEED)
    likenesses: list[Likeness] = []
    for _ in range(4 * draws if expected and pool else 0):
        if len(likenesses) == draws:
            break
        case, drawn = int(rng.integers(len(expected))), int(rng.integers(len(pool)))
        if drawn not in relevant[case]:
            likenesses.append(near(case, drawn) if near else likeness(expected[case], pool[drawn]))
    if not likenesses:
        return RandomMatches(0, None, {})
    ways = {t: (matching or Matching("tokens")).at(t) for t in thresholds}
    at = {t: sum(like.matches(way) for like in likenesses) / len(likenesses) for t, way in ways.items()}
    return RandomMatches(len(likenesses), sum(like.exact for like in likenesses) / len(likenesses), at)


def refuse_random_matches(random: RandomMatches, matching: Matching, source: str) -> None:
    """Raise InputError where too many random texts match, with the lowest threshold that would do."""
    rate = random.rates.get(matching.threshold, 0.0)
    if matching.method not in ("tokens", "hybrid", "bm25") or rate <= MOST_RANDOM:
        return
    fitting = next((t for t in sorted(random.rates) if t > matching.threshold and random.rates[t] <= MOST_RANDOM), None)
    remedy = "match by exact texts (--match exact)"
    if fitting is not None:
        remedy = f"a threshold of {fitting:g} (--match-threshold), where {random.rates[fitting]:.0%} do"
    raise InputError(
        f"{source}: by {matching}, random texts match",
        expected=f"at most {MOST_RANDOM:.0%} of texts that have nothing to do with the question",
        found=f"{rate:.0%} of {random.pairs:,} pairs drawn at random: such gold says nothing",
        remedy=f"{remedy}; allow_random_matches=True (--allow-random-matches) goes on",
    )
