"""Plain lexical search in memory: the control that needs no vectors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any, ClassVar

import numpy as np

from recallbench.stores.store import Hit, Item, Matrix, Query, Store

K1 = 1.2
B = 0.75
METHOD = "lucene"
"""idf = ln(1 + (N - df + .5) / (df + .5)), term weight tf / (tf + k1 (1 - b + b length / mean length))."""
WORD = re.compile(r"\w\w+")
"""Words of two or more letters or digits in lower case; no stop words are dropped, nothing is stemmed."""


class BM25Store(Store):
    """BM25 by bm25s with the statistics of one scope; a word asked twice counts twice, ties go by id."""

    name: ClassVar[str] = "bm25"
    needs_vectors = False
    prefix_stable: ClassVar[bool] = True
    one_scope_at_a_time: ClassVar[bool] = True

    def __init__(self) -> None:
        self._scopes: dict[int, _Scope] = {}

    def prepare(self, dims: int) -> None:
        return None

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        for scope in dict.fromkeys(item.scope for item in items):
            self._scopes[scope] = _Scope([item for item in items if item.scope == scope])

    def search(self, query: Query, k: int) -> list[Hit]:
        scope = self._scopes.get(query.scope)
        return scope.search(query.text, k) if scope else []

    def forget(self, scope: int) -> None:
        self._scopes.pop(scope, None)

    def version(self) -> str:
        return f"recallbench-bm25/1 (bm25s {metadata.version('bm25s')})"

    def settings(self) -> Mapping[str, str]:
        return {
            "bm25.method": METHOD,
            "bm25.k1": str(K1),
            "bm25.b": str(B),
            "bm25.tokens": WORD.pattern,
            "bm25.stopwords": "none",
            "bm25.stemmer": "none",
        }

    def evidence(self) -> Mapping[str, str]:
        return {"index": "bm25s, one per scope", "plan": "every item of the scope is scored"}

    def close(self) -> None:
        self._scopes.clear()


class _Scope:
    def __init__(self, items: Sequence[Item]) -> None:
        import bm25s

        ordered = sorted(items, key=lambda item: item.id)
        self._ids = [item.id for item in ordered]
        self._vocabulary: dict[str, int] = {}
        number = self._vocabulary.setdefault
        texts = [[number(word, len(self._vocabulary)) for word in WORD.findall(i.text.lower())] for i in ordered]
        self._index: Any = None
        if self._vocabulary:
            self._index = bm25s.BM25(k1=K1, b=B, method=METHOD, dtype="float64")
            self._index.index((texts, self._vocabulary), create_empty_token=False, show_progress=False)

    def search(self, text: str, k: int) -> list[Hit]:
        words = [self._vocabulary[word] for word in WORD.findall(text.lower()) if word in self._vocabulary]
        scores = self._index.get_scores_from_ids(words) if words else np.zeros(len(self._ids))
        best = np.argsort(-scores, kind="stable")[:k]
        return [Hit(self._ids[row], score) for row, score in zip(best.tolist(), scores[best].tolist(), strict=True)]
