"""Long texts compared with an expected one: by BM25, passage by passage, relative to the expected text's own score.

The statistics are those of all passages of the texts that are searched together. A passage of average length with every
expected word once gets about .6 of the expected text's own score, and rare words weigh more than common ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log

import numpy as np
import numpy.typing as npt

from recallbench.corpora.matching.text_matching import ParsedText
from recallbench.corpora.matching.tokens import words
from recallbench.protocol.lexical import K1, METHOD, B

DIGITS = 9
"""Digits to which a score is rounded before it meets a threshold: the last ones of a sum differ by machine."""


class Passages:
    """Texts, cut into passages of `chunk` tokens, each starting at half of the one before, and indexed by BM25."""

    def __init__(self, texts: Sequence[str], chunk: int | None) -> None:
        import bm25s

        vocabulary: dict[str, int] = {}
        passages: list[list[int]] = []
        starts = []
        for text in texts:
            starts.append(len(passages))
            for passage in ParsedText(text, chunk).passages:
                passages.append([vocabulary.setdefault(word, len(vocabulary)) for word in passage])
        self._vocabulary = vocabulary
        self._starts = np.array(starts, dtype=np.int64)
        self._count = len(passages)
        self._mean_length = sum(map(len, passages)) / self._count if passages else 0.0
        self._weights: dict[str, npt.NDArray[np.generic]] = {}
        if vocabulary:
            index = bm25s.BM25(k1=K1, b=B, method=METHOD, dtype="float64")
            index.index((passages, vocabulary), create_empty_token=False, show_progress=False)
            self._weights = index.scores
        self.scores = lru_cache(maxsize=8)(self._scores)

    def _scores(self, expected: str) -> npt.NDArray[np.float64]:
        """Return the score of each text's best passage, as a share of the expected text's own; 0 without a shared
        word."""
        expected_words = Counter(words(expected))
        weights = np.zeros(self._count)
        for word, times in expected_words.items():
            if (number := self._vocabulary.get(word)) is not None:
                first, last = self._weights["indptr"][number], self._weights["indptr"][number + 1]
                weights[self._weights["indices"][first:last]] += times * self._weights["data"][first:last]
        if not weights.any():
            return np.zeros(len(self._starts))
        best: npt.NDArray[np.float64] = np.maximum.reduceat(weights, self._starts) / self._own_score(expected_words)
        return best.round(DIGITS)

    def _own_score(self, expected_words: Counter[str]) -> float:
        """Return the score that the expected text would get as one of the passages."""
        norm = K1 * (1 - B + B * expected_words.total() / self._mean_length)
        return sum(times * self._rarity(word) * times / (times + norm) for word, times in expected_words.items())

    def _rarity(self, word: str) -> float:
        number = self._vocabulary.get(word)
        holding = 0 if number is None else int(self._weights["indptr"][number + 1] - self._weights["indptr"][number])
        return log(1 + (self._count - holding + 0.5) / (holding + 0.5))
