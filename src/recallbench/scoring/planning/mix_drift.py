"""The distance between two mixes, and how far they may lie apart by chance."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

Name = TypeVar("Name", bound=Hashable)
DRAWS = 1999
SEED = 42
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class MixDrift:
    """The movement of a mix."""

    distance: float
    """Total variation: the share of the one mix that would have to change to give the other."""
    chance: float
    """The distance that two samples of one mix, of these sizes, exceed in 5 of 100 cases."""
    p: float


def total_variation(first: Mapping[Name, float], second: Mapping[Name, float]) -> float:
    """Return half the sum of the differences between two mixes, each taken as shares of its total."""
    totals = sum(first.values()), sum(second.values())
    names = first.keys() | second.keys()
    return sum(abs(first.get(name, 0) / totals[0] - second.get(name, 0) / totals[1]) for name in names) / 2


def mix_drift(before: Mapping[Name, int], now: Mapping[Name, int]) -> MixDrift:
    """Compare two counts by strata with a permutation test: which recall belongs to which is dealt out again."""
    names = sorted(before.keys() | now.keys(), key=str)
    first, second = (np.array([counts.get(name, 0) for name in names]) for counts in (before, now))
    distance = total_variation(before, now)
    pooled, n = first + second, int(first.sum())
    dealt = np.random.default_rng(SEED).multivariate_hypergeometric(pooled, n, size=DRAWS, method="marginals")
    distances = np.abs(dealt / n - (pooled - dealt) / int(second.sum())).sum(axis=1) / 2
    p = (int((distances >= distance - _EQUAL).sum()) + 1) / (DRAWS + 1)
    return MixDrift(distance, float(np.quantile(distances, 0.95)), p)
