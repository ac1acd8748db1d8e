"""BM25 and cosine over talks, and what their rankings are worth."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from independent.readers import Asked, Talk

Ranked = tuple[Asked, list[int]]
Encode = Callable[[Sequence[str]], Any]
"""What makes a vector per text."""
K1, B = 1.2, 0.75


def bm25(talks: Iterable[Talk], token: str = r"\w+") -> Iterator[Ranked]:
    r"""Yield a ranking per question with gold: Lucene's idf, and statistics over what the question may see."""
    word = re.compile(token)
    for talk in talks:
        counts = [Counter(word.findall(text.lower())) for text in talk.texts]
        lengths = np.array([sum(count.values()) for count in counts])
        for question in talk.questions:
            if not question.gold:
                continue
            seen = question.visible
            norm = K1 * (1 - B + B * lengths[:seen] / lengths[:seen].mean())
            scores = np.zeros(seen)
            for term, times in Counter(word.findall(question.text.lower())).items():
                tf = np.array([count[term] for count in counts[:seen]])
                df = np.count_nonzero(tf)
                scores += times * math.log(1 + (seen - df + 0.5) / (df + 0.5)) * tf / (tf + norm)
            yield question, np.argsort(-scores, kind="stable").tolist()


def cosine(talks: Iterable[Talk], encode: Encode) -> Iterator[Ranked]:
    """Yield a ranking per question with gold, by the cosine of its vector to those of what it may see."""
    for talk in talks:
        asked = [question for question in talk.questions if question.gold]
        if not asked:
            continue
        passages, queries = (_unit(encode(texts)) for texts in (talk.texts, [question.text for question in asked]))
        for question, query in zip(asked, queries, strict=True):
            yield question, np.argsort(-(passages[: question.visible] @ query), kind="stable").tolist()


def _unit(vectors: Any) -> Any:
    vectors = np.asarray(vectors, np.float64)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def figures(rankings: Iterable[Ranked], depth: int = 50) -> dict[str, float]:
    """Return the mean of each measure, and how many questions were asked as `n`."""
    rows: list[dict[str, float]] = []
    for question, order in rankings:
        row: dict[str, float] = {}
        for k in (1, 5, 10):
            share = len(question.gold & set(order[:k])) / len(question.gold)
            row |= {f"recall_any@{k}": share > 0, f"recall_frac@{k}": share, f"recall_all@{k}": share == 1}
        row[f"mrr@{depth}"] = next((1 / i for i, place in enumerate(order[:depth], 1) if place in question.gold), 0.0)
        rows.append(row)
    return {"n": len(rows), **{name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}}


def chance_of_any(talks: Iterable[Talk], k: int = 10) -> float:
    """Return how often a random order has gold among its first k, on average."""
    values = [
        1 - math.comb(q.visible - len(q.gold), k) / math.comb(q.visible, k) if q.visible > k else 1.0
        for talk in talks
        for q in talk.questions
        if q.gold
    ]
    return sum(values) / len(values)
