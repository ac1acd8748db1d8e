"""The words of texts, and BM25 over the first items of a scope, which follows from how often each has each word."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recallbench.protocol.lexical import K1, B

WORD = re.compile(r"\w\w+")
"""Words of two or more letters or digits in lower case; no stop words are dropped, nothing is stemmed."""


class TextWords(NamedTuple):
    """The distinct words of a text, and how often it has each."""

    words: Sequence[str]
    counts: npt.NDArray[np.uint32]


def words_in(text: str) -> list[str]:
    """Return the words of a text in their order."""
    return WORD.findall(text.lower())


def count_words(text: str) -> TextWords:
    """Cut a text into words, and count them."""
    counted = Counter(words_in(text))
    return TextWords(list(counted), np.fromiter(counted.values(), np.uint32, len(counted)))


class WordCounts:
    """The counts of a scope's items; a weight is computed for the words that are asked."""

    def __init__(self, texts: Sequence[TextWords]) -> None:
        vocabulary: defaultdict[str, int] = defaultdict()
        vocabulary.default_factory = vocabulary.__len__  # a new word gets the next number
        sizes = [len(text.words) for text in texts]
        words = chain.from_iterable(text.words for text in texts)
        numbers = np.fromiter(map(vocabulary.__getitem__, words), np.int64, sum(sizes))
        self._numbers = dict(vocabulary)
        # Numbers of two bytes are sorted ten times as fast, and few scopes need more.
        order = np.argsort(numbers.astype(np.min_scalar_type(len(vocabulary))), kind="stable")
        self._items = np.repeat(np.arange(len(texts), dtype=np.int32), sizes)[order]
        """The items of each word, word after word, in their order."""
        self._counts = np.concatenate([text.counts for text in texts])[order]
        self._starts = np.concatenate(([0], np.cumsum(np.bincount(numbers, minlength=len(vocabulary)))))
        self._lengths = np.array([int(text.counts.sum()) for text in texts])

    @property
    def bytes(self) -> int:
        """The size of the counts; the vocabulary is not counted."""
        return int(self._items.nbytes + self._counts.nbytes + self._starts.nbytes + self._lengths.nbytes)

    def weights(self, words: Sequence[str], until: int) -> npt.NDArray[np.float64]:
        """Return the weights of these words, a row each, in the first `until` items, as if there were no others.

        Digit for digit what bm25s gives for an index of those items, so that a store which was filled with no more
        answers alike.
        """
        rows = {word: row for row, word in enumerate(dict.fromkeys(words))}
        counts = np.zeros((len(rows), until))
        for word, row in rows.items():
            number = self._numbers.get(word)
            if number is not None:
                having = slice(self._starts[number], self._starts[number + 1])
                within = int(np.searchsorted(self._items[having], until))
                counts[row, self._items[having][:within]] = self._counts[having][:within]
        lengths = self._lengths[:until]
        mean = lengths.mean()
        if not mean:
            return np.zeros((len(words), until))
        rare = [math.log(1 + (until - df + 0.5) / (df + 0.5)) for df in (counts > 0).sum(1).tolist()]
        tf: npt.NDArray[np.float64] = counts / (K1 * ((1 - B) + B * lengths / mean) + counts)
        weights: npt.NDArray[np.float64] = (np.array(rare)[:, None] * tf)[[rows[word] for word in words]]
        return weights
