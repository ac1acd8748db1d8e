"""A small corpus in the reference store."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from recallbench.stores.store import Item, Matrix, Query

DIMS = 24
START = datetime(2023, 5, 1, 9, 30)
WORDS = [
    "garden",
    "guitar",
    "Lisbon",
    "marathon",
    "knitting",
    "knitted",
    "runs",
    "running",
    "bakery",
    "dog",
    "dogs",
    "storm",
    "café",
    "the",
    "and",
    "a",
    "of",
]


def corpus(scopes: int = 3, size: int = 17) -> tuple[list[Item], Matrix, list[Query]]:
    """Scopes of sessions with all that may differ: words, dates or none, importance, equal vectors and texts."""
    random = np.random.default_rng(11)
    items, queries = [], []
    for scope in range(scopes):
        for position in range(size):
            words = " ".join(random.choice(WORDS, random.integers(1, 40)))
            date = None if position % 6 == 5 else START + timedelta(days=int(random.integers(0, 300)), hours=position)
            items.append(Item(1000 * scope + position, scope, words, date, float(random.random())))
        for turn in range(12):
            question = "When did the " + " ".join(random.choice(WORDS, 4)) + "?"
            asked_at = START + timedelta(days=150, minutes=turn) if turn % 2 else None
            queries.append(Query(scope, question, None, asked_at))
    vectors = random.standard_normal((len(items), DIMS)).astype(np.float32)
    vectors[3], items[3] = vectors[2], replace(items[3], text=items[2].text)
    rows = random.standard_normal((len(queries), DIMS)).astype(np.float32)
    return items, vectors, [replace(query, vector=row) for query, row in zip(queries, rows, strict=True)]


ITEMS, VECTORS, QUERIES = corpus()
