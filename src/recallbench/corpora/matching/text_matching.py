"""Whether a text says what was expected, by one way or several in turn, and how often one matches that should not.

The tokens of a text are its words, lower-cased, without punctuation and symbols; F1 is over sets, so that neither
order nor repetition counts. Token F1 alone decides: a text that holds a short answer among many words does not match.
Against a long text an answer stays below any threshold by length alone, which is what chunks are for: one of c tokens
reaches at most 2n / (n + c) with an answer of n, .154 for 5 in 60 and .333 for 5 in 25. Scripts that put no blanks
between words make one token of a sentence: match such texts by id.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from recallbench.corpora.records import RandomMatches as RandomMatches
from recallbench.errors import UsageError

Method = Literal["id", "exact", "tokens", "hybrid", "bm25"]
Step = Literal["id", "exact", "tokens", "cosine", "bm25"]
"""What a hit matched by. `hybrid` takes the first four in this order, and the first that matches counts."""
DEFAULT, STRICT, EXPLORATORY = 0.3, 0.5, 0.1
RELATIVE = 0.5
"""The share of the expected text's own BM25 score that counts, where none is named."""
PASSAGE = 60
"""Tokens of a passage that BM25 scores, where no chunk is named."""
OWN = -math.inf
"""Stands for the threshold that the method has by itself."""
SENSITIVITY = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
"""Thresholds that a result is shown at, beside its own."""
DRAWS, SEED = 2000, 42


@dataclass(frozen=True, slots=True)
class Matching:
    """What makes a hit relevant. Its text names it in every output; numbers of two methods are never compared."""

    method: Method = "id"
    threshold: float = OWN
    """From which a text matches: token F1 of `tokens` and `hybrid`, relative BM25 of `bm25`; others read none."""
    chunk: int | None = None
    """Tokens of a chunk; None matches whole texts, but for `bm25`, which takes passages of 60."""
    encoder: str = ""
    """Of `hybrid`: whose vectors are held against each other where nothing else matched; empty for none."""
    cosine: float | None = None
    """From which these match. Each encoder has its own scale, so none is taken for granted."""

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            raise UsageError("unknown way to match", expected=", ".join(get_args(Method)), found=repr(self.method))
        if self.threshold == OWN:
            object.__setattr__(self, "threshold", RELATIVE if self.method == "bm25" else DEFAULT)
        if self.method == "bm25" and self.chunk is None:
            object.__setattr__(self, "chunk", PASSAGE)
        self._check_cosine()
        if not 0 < self.threshold <= 1:
            raise UsageError(
                "a threshold of token F1, or of relative BM25, lies between 0 and 1",
                expected=f"above 0, at most 1: {DEFAULT} by default, {STRICT} strict, {EXPLORATORY} exploratory",
                found=str(self.threshold),
            )
        if self.chunk is not None and self.chunk < 1:
            raise UsageError("a chunk has tokens", expected="1 or more", found=str(self.chunk))
        if self.method == "id" and self.chunk is not None:
            raise UsageError("ids have no chunks", expected="matching by tokens or exact", found=f"chunk {self.chunk}")

    def _check_cosine(self) -> None:
        if not self.encoder and self.cosine is None:
            return
        if self.method != "hybrid":
            raise UsageError("cosine is a step of hybrid", expected="matching by hybrid", found=str(self.method))
        if not self.encoder or self.cosine is None or not 0 < self.cosine <= 1:
            raise UsageError(
                "cosine needs an encoder and the threshold from which it counts",
                expected="both: --match-embedder minilm --match-cosine 0.8, above 0 and at most 1",
                found=f"{self.encoder or 'no encoder'}, {'no threshold' if self.cosine is None else self.cosine}",
            )

    def __str__(self) -> str:
        parts = [self.rule]
        if self.chunk:
            parts.append(f"chunk {self.chunk}")
        if self.cosine is not None:
            parts.append(f"cosine>={self.cosine:g} by {self.encoder}")
        return ", ".join(parts)

    @property
    def rule(self) -> str:
        """The method with its threshold, as `tokens f1>=0.3`."""
        if self.method in ("tokens", "hybrid"):
            return f"{self.method} f1>={self.threshold:g}"
        return f"bm25>={self.threshold:g}" if self.method == "bm25" else self.method

    @property
    def steps(self) -> tuple[Step, ...]:
        """What a hit may match by, in the order in which it is tried."""
        if self.method != "hybrid":
            return (self.method,)
        return ("id", "exact", "tokens") if self.cosine is None else ("id", "exact", "tokens", "cosine")

    @property
    def thresholds(self) -> list[float]:
        """Those that a result is shown at: the usual ones, and its own where it has one."""
        return sorted({*SENSITIVITY, self.threshold} if self.method in ("tokens", "hybrid", "bm25") else SENSITIVITY)

    def at(self, threshold: float | None) -> Matching:
        """The same at another threshold; None for exact matches alone. What has none is token F1 there."""
        if threshold is None:
            return Matching("exact", chunk=self.chunk)
        if self.method in ("hybrid", "bm25"):
            return replace(self, threshold=threshold)
        return Matching("tokens", threshold, self.chunk)

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
    by_id: bool = False
    """It is one of the relevant ids."""
    bm25: float = 0.0
    """The score of its best passage, relative to the expected text's own."""
    cosine: float | None = None
    """None where no encoder was asked."""

    def step(self, matching: Matching) -> Step | None:
        """What the text matches by, the first of the method's steps; None where it does not match."""
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
    matching: Matching | None = None,
    near: Callable[[int, int], Likeness] | None = None,
) -> RandomMatches:
    """The match rate of up to `draws` random pairs, seed 42; `relevant` are the texts of the pool not to be drawn.

    `near` holds a text of the pool against an expected one, given their places; by default their words alone.

    A rate near the share of questions that a method finds says that the threshold lets anything through.
    """
    rng = np.random.default_rng(SEED)
    found: list[Likeness] = []
    for _ in range(4 * draws if expected and pool else 0):
        if len(found) == draws:
            break
        asked, drawn = int(rng.integers(len(expected))), int(rng.integers(len(pool)))
        if drawn not in relevant[asked]:
            found.append(near(asked, drawn) if near else likeness(expected[asked], pool[drawn]))
    if not found:
        return RandomMatches(0, None, {})
    ways = {t: (matching or Matching("tokens")).at(t) for t in thresholds}
    at = {t: sum(one.matches(way) for one in found) / len(found) for t, way in ways.items()}
    return RandomMatches(len(found), sum(one.exact for one in found) / len(found), at)


class _Marks(dict[int, int | None]):
    """What takes punctuation and symbols out; a mark that belongs to a letter (an accent, a vowel sign) stays."""

    def __missing__(self, point: int) -> int | None:
        self[point] = None if unicodedata.category(chr(point))[0] in "PS" else point
        return self[point]


_MARKS = _Marks()
