"""Plain lexical search in memory: the control that needs no vectors."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from importlib import metadata
from itertools import groupby, repeat
from math import inf
from typing import Any, ClassVar

import numpy as np

from recallbench.protocol.lexical import K1, METHOD, B
from recallbench.stores.statement import Statement, exactly
from recallbench.stores.store import Hit, Item, Matrix, Query, Store
from recallbench.stores.word_counts import WordCounts

WORD = re.compile(r"\w\w+")
"""Words of two or more letters or digits in lower case; no stop words are dropped, nothing is stemmed."""
SETTINGS = {
    "bm25.method": METHOD,
    "bm25.k1": str(K1),
    "bm25.b": str(B),
    "bm25.tokens": WORD.pattern,
    "bm25.stopwords": "none",
    "bm25.stemmer": "none",
}
EVIDENCE = {"index": "bm25s, one per scope", "plan": "every item of the scope is scored"}


class BM25Store(Store):
    """BM25 by bm25s with the statistics of one scope; a word asked twice counts twice, ties go by id."""

    name = "bm25"
    summary: ClassVar[str] = "BM25 in memory, without vectors"
    needs_vectors = False
    prefix_stable: bool = True
    filters_time: bool = True
    grows: bool = True
    one_scope_at_a_time: ClassVar[bool] = True

    @classmethod
    def states(cls, name: str, options: Mapping[str, Any]) -> tuple[Statement, ...]:
        version = r"recallbench-bm25/1 \(bm25s (?P<package_bm25s>\S+)\)"
        return (Statement(version, exactly(SETTINGS), exactly(EVIDENCE)),)

    @classmethod
    def score_range(cls, options: Mapping[str, Any]) -> tuple[float, float]:
        return 0.0, inf

    def __init__(self) -> None:
        self._scopes: dict[int, _Scope] = {}
        self._growing: dict[int, list[Item]] | None = None
        """The items of each scope, where more may come; else they are forgotten when they are indexed."""

    def prepare(self, dims: int) -> None:
        return None

    def expect_time(self) -> None:
        self._growing = {}

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        for scope in dict.fromkeys(item.scope for item in items):
            own = sorted((item for item in items if item.scope == scope), key=lambda item: item.id)
            if self._growing is None:
                self._scopes[scope] = _Scope(own, timed=False)
            else:
                self._growing.setdefault(scope, []).extend(own)
                self._scopes.pop(scope, None)

    def search(self, query: Query, k: int) -> list[Hit]:
        return next(self.search_many([query], k))

    def search_many(self, queries: Sequence[Query], k: int) -> Iterator[list[Hit]]:
        for (scope, visible), run in groupby(queries, key=lambda query: (query.scope, query.visible)):
            texts = [query.text for query in run]
            index = self._indexed(scope)
            yield from index.search(texts, k, visible) if index else ([] for _ in texts)

    @property
    def one_caller(self) -> str:
        return ""

    def another_caller(self) -> BM25Store:
        for scope in self._growing or ():
            self._indexed(scope)
        # A search writes nothing, so only the table of the scopes is the handle's own.
        handle = copy(self)
        handle._scopes = dict(self._scopes)
        return handle

    def forget(self, scope: int) -> None:
        self._scopes.pop(scope, None)
        if self._growing is not None:
            self._growing.pop(scope, None)

    def version(self) -> str:
        return f"recallbench-bm25/1 (bm25s {metadata.version('bm25s')})"

    def settings(self) -> Mapping[str, str]:
        return SETTINGS

    def evidence(self) -> Mapping[str, str]:
        return EVIDENCE

    def stored_bytes(self) -> Mapping[str, int]:
        for scope in self._growing or ():
            self._indexed(scope)
        return {"weights": sum(index.bytes for index in self._scopes.values())}

    def close(self) -> None:
        self._scopes.clear()
        self._growing = None

    def _indexed(self, scope: int) -> _Scope | None:
        """Return the index of a scope, made anew where items came since."""
        if scope not in self._scopes and self._growing is not None and scope in self._growing:
            self._scopes[scope] = _Scope(sorted(self._growing[scope], key=lambda item: item.id), timed=True)
        return self._scopes.get(scope)


class _Scope:
    def __init__(self, ordered: Sequence[Item], *, timed: bool) -> None:
        import bm25s

        self._ids = np.array([item.id for item in ordered])
        vocabulary: defaultdict[str, int] = defaultdict()
        vocabulary.default_factory = vocabulary.__len__  # a new word gets the next number
        texts = [list(map(vocabulary.__getitem__, WORD.findall(item.text.lower()))) for item in ordered]
        self._vocabulary = dict(vocabulary)
        self._weights = np.zeros((len(self._vocabulary) + 1, len(ordered)))
        """The weight of each word in each item; the last row, for words that no item has, is zero."""
        self._counts = WordCounts(texts, len(self._vocabulary)) if timed else None
        if self._vocabulary:
            index = bm25s.BM25(k1=K1, b=B, method=METHOD, dtype="float64")
            index.index((texts, self._vocabulary), create_empty_token=False, show_progress=False)
            columns = index.scores
            words = np.repeat(np.arange(len(self._vocabulary)), np.diff(columns["indptr"]))
            self._weights[words, columns["indices"]] = columns["data"]

    @property
    def bytes(self) -> int:
        """The size of ids and weights; the vocabulary is not counted."""
        return int(self._ids.nbytes + self._weights.nbytes)

    def search(self, texts: Sequence[str], k: int, visible: range | None) -> list[list[Hit]]:
        """Return the best items for each text, of those that are visible; all of them where that is not said."""
        until = len(self._ids) if visible is None else int(np.searchsorted(self._ids, visible.stop))
        if not until:
            return [[] for _ in texts]
        unknown = len(self._vocabulary)
        query_words = [
            [self._vocabulary.get(word, unknown) for word in WORD.findall(text.lower())] or [unknown] for text in texts
        ]
        starts = np.cumsum([0, *map(len, query_words[:-1])])
        words = [word for words in query_words for word in words]
        if until == len(self._ids):
            weights = self._weights[words]
        else:
            if self._counts is None:
                raise AssertionError("expect_time() is called before items go in")
            weights = self._counts.weights(words, until)
        # Each question's words are added one after the other, so a question scores alike alone and among others.
        scores = np.add.reduceat(weights, starts, axis=0)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        rankings = zip(self._ids[best].tolist(), np.take_along_axis(scores, best, 1).tolist(), strict=True)
        return [list(map(tuple.__new__, repeat(Hit), zip(ids, values, strict=True))) for ids, values in rankings]
