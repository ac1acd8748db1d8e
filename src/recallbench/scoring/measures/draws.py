"""The number of gold segments that a random order has within a depth, and the mean of a value of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import comb

import numpy as np

from recallbench.scoring.judgement import Floats, Judged


def expected(judged: Judged, depth: int, value: Callable[[int], Floats | float]) -> Floats:
    """(Q,): the mean of `value`, a function of the number of gold segments in a random order's first `depth` places."""
    mean = np.zeros(len(judged))
    chances = [
        _chances(size, answering, min(depth, size))
        for size, answering in zip(judged.candidates.tolist(), judged.answering.tolist(), strict=True)
    ]
    for hits in range(max(map(len, chances), default=0)):
        mean += np.array([each[hits] if hits < len(each) else 0.0 for each in chances]) * value(hits)
    return mean


@lru_cache(maxsize=4096)
def _chances(size: int, answering: int, drawn: int) -> tuple[float, ...]:
    """Return the probability of each number of hits: C(G, h) C(N-G, d-h) / C(N, d)."""
    # Whole numbers up to the division neither overflow nor cancel.
    total, least, most = comb(size, drawn), max(0, drawn - (size - answering)), min(answering, drawn)
    ways = comb(answering, least) * comb(size - answering, drawn - least)
    probabilities = [0.0] * least
    for hits in range(least, most + 1):
        probabilities.append(ways / total)
        ways = ways * (answering - hits) * (drawn - hits) // ((hits + 1) * (size - answering - drawn + hits + 1))
    return tuple(probabilities)
