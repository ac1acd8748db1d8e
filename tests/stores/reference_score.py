"""The reference store's score again, in plain Python and float64, from the documentation alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from recallbench.stores.store import Item, Matrix, Query


def parts(
    items: Sequence[Item], vectors: Matrix, query: Query, lexemes: Callable[[str], Mapping[str, int]]
) -> list[dict[str, float]]:
    """Each part of the score but graph, for every item of the scope."""
    cosines = [_cosine(vector, query.vector) for vector in vectors]
    lexical = _bm25([lexemes(item.text) for item in items], set(lexemes(query.text)))
    best = max(lexical)
    dates = [_utc(item.occurred_at) for item in items if item.occurred_at]
    now = _utc(query.asked_at) if query.asked_at else max(dates, default=None)
    rows = []
    for item, cosine, bm25 in zip(items, cosines, lexical, strict=True):
        recency = 0.0
        if item.occurred_at and now:
            age = max(0.0, (now - _utc(item.occurred_at)).total_seconds() / 86_400)
            recency = math.exp(-math.log(2) * age / 30)
        rows.append(
            {
                "cosine": cosine,
                "bm25": bm25 / best if best else 0.0,
                "recency": recency,
                "importance": item.importance,
            }
        )
    return rows


def ranked(
    items: Sequence[Item], rows: Sequence[Mapping[str, float]], weights: Mapping[str, float]
) -> dict[int, float]:
    """Score by id, best first."""
    apart = {
        item.id: sum(weights.get(name, 0) * value for name, value in values.items())
        for item, values in zip(items, rows, strict=True)
    }
    best = set(sorted(apart, key=lambda id: (-apart[id], id))[:5])
    total = {id: score + weights.get("graph", 0) * bool({id - 1, id + 1} & best) for id, score in apart.items()}
    return dict(sorted(total.items(), key=lambda pair: (-pair[1], pair[0])))


def _cosine(left: np.ndarray, right: np.ndarray | None) -> float:
    assert right is not None
    a, b = left.astype(float), right.astype(float)
    return float(a @ b / math.sqrt(float(a @ a) * float(b @ b)))


def _bm25(segments: Sequence[Mapping[str, int]], query: set[str]) -> list[float]:
    lengths = [sum(segment.values()) for segment in segments]
    mean = sum(lengths) / len(lengths)
    frequency = Counter(lexeme for segment in segments for lexeme in segment)
    scores = []
    for segment, length in zip(segments, lengths, strict=True):
        score = 0.0
        for lexeme in query & set(segment):
            idf = math.log(1 + (len(segments) - frequency[lexeme] + 0.5) / (frequency[lexeme] + 0.5))
            tf = segment[lexeme]
            score += idf * tf * 2.2 / (tf + 1.2 * (1 - 0.75 + 0.75 * length / mean))
        scores.append(score)
    return scores


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
