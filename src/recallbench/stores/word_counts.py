"""The words of texts, and BM25 over the first items of a scope, which follows from how often each has each word."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recallbench.protocol.lexical import K1, B

WORD = re.compile(r"\w\w+")
"""Words of two or more letters or digits in lower case; no stop words are dropped, nothing is stemmed."""


FEW = 32
"""Words up to which it is quicker to look for each in the texts than to index all that these have."""
Places = tuple[npt.NDArray[np.integer[Any]], npt.NDArray[np.integer[Any]]]
"""The items that have a word, in their order, and how often each has it."""


class TextWords(NamedTuple):
    """The distinct words of a text, parted by blanks, and how often it has each."""

    words: str
    counts: npt.NDArray[np.uint32]


def words_in(text: str) -> list[str]:
    """Return the words of a text in their order."""
    return WORD.findall(text.lower())


def count_words(text: str) -> TextWords:
    """Cut a text into words, and count them."""
    counted = Counter(words_in(text))
    return TextWords(" ".join(counted), np.fromiter(counted.values(), np.uint32, len(counted)))


class WordCounts:
    """The counts of a scope's items; a weight is computed for the words that are asked."""

    def __init__(self, texts: Sequence[TextWords], *, lazy: bool = False) -> None:
        """A `lazy` one indexes its texts once more than a few words were asked: to look for those is quicker."""
        self._lengths = np.array([int(text.counts.sum()) for text in texts])
        # One attribute, replaced as a whole, since several threads may ask at once.
        self._words: _Texts | _Index = _Texts(texts) if lazy else _Index(texts)
        self._asked = 0

    @property
    def bytes(self) -> int:
        """The size of the counts once they are indexed; the vocabulary is not counted."""
        return self._indexed().bytes + int(self._lengths.nbytes)

    def weights(self, words: Sequence[str], until: int) -> npt.NDArray[np.float64]:
        """Return the weights of these words, a row each, in the first `until` items, as if there were no others.

        Digit for digit what bm25s gives for an index of those items, so that a store which was filled with no more
        answers alike.
        """
        rows = {word: row for row, word in enumerate(dict.fromkeys(words))}
        self._asked += len(rows)
        having = self._words if self._asked <= FEW else self._indexed()
        counts = np.zeros((len(rows), until))
        for word, row in rows.items():
            items, times = having.places(word)
            within = int(np.searchsorted(items, until))
            counts[row, items[:within]] = times[:within]
        lengths = self._lengths[:until]
        mean = lengths.mean()
        if not mean:
            return np.zeros((len(words), until))
        rare = [math.log(1 + (until - df + 0.5) / (df + 0.5)) for df in (counts > 0).sum(1).tolist()]
        tf: npt.NDArray[np.float64] = counts / (K1 * ((1 - B) + B * lengths / mean) + counts)
        weights: npt.NDArray[np.float64] = (np.array(rare)[:, None] * tf)[[rows[word] for word in words]]
        return weights

    def _indexed(self) -> _Index:
        words = self._words
        if isinstance(words, _Texts):
            self._words = words = _Index(words.texts)
        return words


class _Texts:
    """Texts in which a word is looked for when it is asked."""

    def __init__(self, texts: Sequence[TextWords]) -> None:
        self.texts = texts
        self._framed = [f" {text.words} " for text in texts]

    def places(self, word: str) -> Places:
        # A question without words asks for the empty one, which no text has.
        framed, texts = f" {word} ", self._framed if word else []
        found = [(item, words, at) for item, words in enumerate(texts) if (at := words.find(framed)) >= 0]
        # As many blanks stand before a word as words do.
        times = [self.texts[item].counts[words.count(" ", 0, at)] for item, words, at in found]
        return np.array([item for item, _, _ in found], np.int32), np.array(times, np.uint32)


class _Index:
    """The items of each word, word after word."""

    def __init__(self, texts: Sequence[TextWords]) -> None:
        vocabulary: defaultdict[str, int] = defaultdict()
        vocabulary.default_factory = vocabulary.__len__  # a new word gets the next number
        sizes = [len(text.counts) for text in texts]
        words = chain.from_iterable(text.words.split() for text in texts)
        numbers = np.fromiter(map(vocabulary.__getitem__, words), np.int64, sum(sizes))
        self._numbers = dict(vocabulary)
        # Numbers of two bytes are sorted ten times as fast, and few scopes need more.
        order = np.argsort(numbers.astype(np.min_scalar_type(len(vocabulary))), kind="stable")
        self._items = np.repeat(np.arange(len(texts), dtype=np.int32), sizes)[order]
        self._counts = np.concatenate([text.counts for text in texts])[order]
        self._starts = np.concatenate(([0], np.cumsum(np.bincount(numbers, minlength=len(vocabulary)))))

    @property
    def bytes(self) -> int:
        return int(self._items.nbytes + self._counts.nbytes + self._starts.nbytes)

    def places(self, word: str) -> Places:
        number = self._numbers.get(word)
        having = slice(0) if number is None else slice(self._starts[number], self._starts[number + 1])
        return self._items[having], self._counts[having]
