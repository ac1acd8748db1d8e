"""The words of texts, and BM25 over the first items of a scope, which follows from how often each has each word.

A word stands as a number that follows from it alone, so that texts counted apart can be put together without their
words. That two of a million words share a number by chance has less than one chance in ten million.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recallbench.protocol.lexical import K1, B

WORD = re.compile(r"\w\w+")
"""Words of two or more letters or digits in lower case; no stop words are dropped, nothing is stemmed."""
FEW = 32
"""Words up to which it is quicker to go through all counts for each than to sort these."""


class TextWords(NamedTuple):
    """The numbers of a text's distinct words, and how often it has each."""

    words: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.uint32]


class _Counts(NamedTuple):
    """The counts of a scope, one for each word of each item."""

    words: npt.NDArray[np.uint64]
    items: npt.NDArray[np.int32]
    counts: npt.NDArray[np.uint32]
    sorted: bool
    """Whether they are in the order of the words; in that of the items they are in any case."""


def words_in(text: str) -> list[str]:
    """Return the words of a text in their order."""
    return WORD.findall(text.lower())


@lru_cache(maxsize=1 << 16)
def word_number(word: str) -> int:
    """Return the number that stands for a word."""
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def count_words(text: str) -> TextWords:
    """Cut a text into words, and count them."""
    counted = Counter(words_in(text))
    number = len(counted)
    words = np.fromiter(map(word_number, counted), np.uint64, number)
    return TextWords(words, np.fromiter(counted.values(), np.uint32, number))


def count_each(texts: Sequence[str]) -> list[TextWords]:
    """Cut texts into words, and count those of each."""
    return [count_words(text) for text in texts]


class WordCounts:
    """The counts of a scope's items; a weight is computed for the words that are asked."""

    def __init__(self, texts: Sequence[TextWords]) -> None:
        items = np.repeat(np.arange(len(texts), dtype=np.int32), [len(text.words) for text in texts])
        words = np.concatenate([text.words for text in texts])
        # Replaced as a whole, since several threads may ask at once.
        self._counts = _Counts(words, items, np.concatenate([text.counts for text in texts]), sorted=False)
        self._lengths = np.bincount(items, self._counts.counts, len(texts)).astype(np.int64)
        self._asked = 0

    @property
    def bytes(self) -> int:
        """The size of the counts and of where those of each word begin; the words themselves are not counted."""
        counts = self._sorted()
        distinct = np.count_nonzero(np.diff(counts.words)) + bool(len(counts.words))
        return int(counts.items.nbytes + counts.counts.nbytes + 8 * (distinct + 1) + self._lengths.nbytes)

    def weights(self, words: Sequence[str], until: int) -> npt.NDArray[np.float64]:
        """Return the weights of these words, a row each, in the first `until` items, as if there were no others.

        Digit for digit what bm25s gives for an index of those items, so that a store which was filled with no more
        answers alike.
        """
        rows = {word: row for row, word in enumerate(dict.fromkeys(words))}
        self._asked += len(rows)
        have = self._counts if self._asked <= FEW else self._sorted()
        counts = np.zeros((len(rows), until))
        numbers = np.array([word_number(word) for word in rows], np.uint64)
        for row, (items, found) in enumerate(_of_each(have, numbers)):
            within = len(items) if until >= len(self._lengths) else int(np.searchsorted(items, until))
            counts[row, items[:within]] = found[:within]
        lengths = self._lengths[:until]
        mean = lengths.mean()
        if not mean:
            return np.zeros((len(words), until))
        rare = [math.log(1 + (until - df + 0.5) / (df + 0.5)) for df in (counts > 0).sum(1).tolist()]
        tf: npt.NDArray[np.float64] = counts / (K1 * ((1 - B) + B * lengths / mean) + counts)
        weights: npt.NDArray[np.float64] = (np.array(rare)[:, None] * tf)[[rows[word] for word in words]]
        return weights

    def _sorted(self) -> _Counts:
        counts = self._counts
        if not counts.sorted:
            order = np.argsort(counts.words, kind="stable")
            self._counts = counts = _Counts(counts.words[order], counts.items[order], counts.counts[order], sorted=True)
        return counts


def _of_each(
    have: _Counts, words: npt.NDArray[np.uint64]
) -> Iterator[tuple[npt.NDArray[np.int32], npt.NDArray[np.uint32]]]:
    """Yield the items that have each word, and how often."""
    if have.sorted:
        begins, ends = np.searchsorted(have.words, words), np.searchsorted(have.words, words, "right")
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            yield have.items[begin:end], have.counts[begin:end]
        return
    for word in words:
        places = np.flatnonzero(have.words == word)
        yield have.items[places], have.counts[places]
