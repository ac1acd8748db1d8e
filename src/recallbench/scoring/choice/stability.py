"""How far a figure moves when nothing but time or the seed is another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Stability:
    """The spread of one figure of one point, as of its recall or its p95."""

    seeds: int
    runs: int
    """Over all seeds."""
    mean: float
    """Of the seeds' means."""
    over_repeats: float | None
    """The standard deviation of repeats with the same seed; None where no seed was repeated."""
    over_seeds: float | None
    """The standard deviation of the seeds' means, what repeats move included; None with one seed."""
    least: float
    most: float


def stability(runs: Sequence[Sequence[float]]) -> Stability:
    """Return the spread of a figure, given by seed, for each its repeats."""
    if not runs or not all(len(repeats) for repeats in runs):
        raise ValueError("a seed without a run has no spread")
    by_seed = [np.asarray(repeats, dtype=np.float64) for repeats in runs]
    means = np.array([repeats.mean() for repeats in by_seed])
    every = np.concatenate(by_seed)
    degrees = len(every) - len(by_seed)
    squares = sum(float(((repeats - repeats.mean()) ** 2).sum()) for repeats in by_seed)
    return Stability(
        seeds=len(by_seed),
        runs=len(every),
        mean=float(means.mean()),
        over_repeats=float(np.sqrt(squares / degrees)) if degrees else None,
        over_seeds=float(means.std(ddof=1)) if len(means) > 1 else None,
        least=float(every.min()),
        most=float(every.max()),
    )
