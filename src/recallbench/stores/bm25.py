"""Plain lexical search in memory: the control that needs no vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from importlib import metadata
from itertools import groupby, repeat
from math import inf
from typing import Any, ClassVar

import numpy as np

from recallbench.protocol.lexical import K1, METHOD, B
from recallbench.stores.statement import Statement, exactly
from recallbench.stores.store import Hit, Item, Matrix, Query, Store
from recallbench.stores.word_counts import WORD, TextWords, WordCounts, count_each, words_in

SETTINGS = {
    "bm25.method": METHOD,
    "bm25.k1": str(K1),
    "bm25.b": str(B),
    "bm25.tokens": WORD.pattern,
    "bm25.stopwords": "none",
    "bm25.stemmer": "none",
}
CELLS = 1 << 20
"""Weights of a word in an item in memory at a time: 8 MB in each of a few tables."""
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

    def __init__(self, count: Callable[[Sequence[str]], list[TextWords]] = count_each) -> None:
        """`count` cuts texts into words and counts those of each, or knows what that gives."""
        self._count = count
        self._scopes: dict[int, _Scope] = {}
        self._growing: dict[int, dict[int, TextWords]] | None = None
        """The words of each scope's items by id, where more may come; else only its index is held."""

    def prepare(self, dims: int) -> None:
        return None

    def expect_time(self) -> None:
        self._growing = {}

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        for scope in dict.fromkeys(item.scope for item in items):
            own = [item for item in items if item.scope == scope]
            words = self._count([item.text for item in own])
            counted = {item.id: found for item, found in zip(own, words, strict=True)}
            if self._growing is None:
                self._scopes[scope] = _Scope(counted)
            else:
                self._growing.setdefault(scope, {}).update(counted)
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
        return {"index of words": sum(index.bytes for index in self._scopes.values())}

    def close(self) -> None:
        self._scopes.clear()
        self._growing = None

    def _indexed(self, scope: int) -> _Scope | None:
        """Return the index of a scope, made anew where items came since."""
        if scope not in self._scopes and self._growing is not None and scope in self._growing:
            self._scopes[scope] = _Scope(self._growing[scope])
        return self._scopes.get(scope)


class _Scope:
    def __init__(self, counted: Mapping[int, TextWords]) -> None:
        self._ids = np.array(sorted(counted))
        self._counts = WordCounts([counted[id] for id in self._ids.tolist()])

    @property
    def bytes(self) -> int:
        """The size of ids and counts; the vocabulary is not counted."""
        return int(self._ids.nbytes) + self._counts.bytes

    def search(self, texts: Sequence[str], k: int, visible: range | None) -> list[list[Hit]]:
        """Return the best items for each text, of those that are visible; all of them where that is not said."""
        until = len(self._ids) if visible is None else int(np.searchsorted(self._ids, visible.stop))
        if not until:
            return [[] for _ in texts]
        # Without any word every item scores 0, as by one that no item has.
        query_words = [words_in(text) or [""] for text in texts]
        return [hits for block in _blocks(query_words, until) for hits in self._search(block, k, until)]

    def _search(self, query_words: Sequence[Sequence[str]], k: int, until: int) -> list[list[Hit]]:
        starts = np.cumsum([0, *map(len, query_words[:-1])])
        weights = self._counts.weights([word for words in query_words for word in words], until)
        # Each question's words are added one after the other, so a question scores alike alone and among others.
        scores = np.add.reduceat(weights, starts, axis=0)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        rankings = zip(self._ids[best].tolist(), np.take_along_axis(scores, best, 1).tolist(), strict=True)
        return [list(map(tuple.__new__, repeat(Hit), zip(ids, values, strict=True))) for ids, values in rankings]


def _blocks(query_words: Sequence[Sequence[str]], until: int) -> Iterator[Sequence[Sequence[str]]]:
    """Yield questions together whose words have at most `CELLS` weights, or one question."""
    first, words = 0, 0
    for place, own in enumerate(query_words):
        words += len(own)
        if place > first and words * until > CELLS:
            yield query_words[first:place]
            first, words = place, len(own)
    yield query_words[first:]
