"""The moments at which questions are to start, and the order of the questions: both from a seed alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np

Arrivals = Literal["poisson", "constant"]
"""Independent callers, who come at random; or one beat."""
ARRIVALS: tuple[Arrivals, ...] = get_args(Arrivals)


def arrival_times(rate: float, seconds: float, arrivals: Arrivals, seed: int, most: int) -> list[float]:
    """Return the intended starts of a level in seconds from its own, ascending: at least one, and no more than `most`.

    A level that would have more arrivals than that is as much shorter.
    """
    if arrivals == "constant":
        return [i / rate for i in range(min(most, max(1, int(rate * seconds + 1e-9))))]
    times: list[float] = []
    draw, now = np.random.default_rng(seed), 0.0
    while len(times) < most:
        now += float(draw.exponential(1 / rate))
        if now >= seconds:
            break
        times.append(now)
    return times or [0.0]


def question_order(count: int, seed: int) -> Iterator[int]:
    """Yield the places of all questions in a random order, then all again in another one, without end."""
    draw = np.random.default_rng(seed)
    while True:
        yield from draw.permutation(count).tolist()
