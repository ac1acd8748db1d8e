"""How often each item has each word: BM25 over the first items of a scope alone follows from it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recallbench.protocol.lexical import K1, B


class WordCounts:
    """The words of a scope's items, counted once; a weight is computed for the words that are asked."""

    def __init__(self, texts: Sequence[Sequence[int]], vocabulary: int) -> None:
        """`texts` are the words of each item, by their numbers below `vocabulary`."""
        self._counts = np.zeros((vocabulary + 1, len(texts)), np.int32)
        """By word and item; the last row, for words that no item has, is zero."""
        for place, words in enumerate(texts):
            np.add.at(self._counts[:, place], np.asarray(words, np.int64), 1)
        self._lengths = np.array([len(words) for words in texts])

    def weights(self, words: Sequence[int], until: int) -> npt.NDArray[np.float64]:
        """Return the weights of these words, a row each, in the first `until` items, as if there were no others.

        Digit for digit what bm25s gives for an index of those items, so that a store which was filled with no more
        answers alike.
        """
        rows, places = np.unique(np.asarray(words, np.int64), return_inverse=True)
        counts = self._counts[rows, :until].astype(np.float64)
        lengths = self._lengths[:until]
        mean = lengths.mean()
        if not mean:
            return np.zeros((len(words), until))
        rare = [math.log(1 + (until - df + 0.5) / (df + 0.5)) for df in (counts > 0).sum(1).tolist()]
        tf: npt.NDArray[np.float64] = counts / (K1 * ((1 - B) + B * lengths / mean) + counts)
        weights: npt.NDArray[np.float64] = (np.array(rare)[:, None] * tf)[places]
        return weights
