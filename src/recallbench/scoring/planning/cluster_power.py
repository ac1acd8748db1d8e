"""How often the sign flips of a few clusters would see a drop: worked out over outcomes, since no quantile tells it.

Six clusters reach a p below .05 only where every one of them moves the same way. Standard errors and the quantiles of t
know nothing of that: a drop that they call seen in 8 of 10 runs is seen in about half of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.intervals import LEVEL, SEED
from recallbench.scoring.judgement import Bools, Floats, Ints
from recallbench.scoring.sign_flips import ENUMERATED

OUTCOMES = 2000
"""Outcomes that a power is worked out over; its standard error is below .01 then."""
_SURE = 1e-9


@dataclass(frozen=True, slots=True)
class ClusterPower:
    """Clusters of so many questions, of which a share moves by chance."""

    sizes: Sequence[int]
    differing: float
    """The share of questions that move both ways alike, beside the drop."""
    effect: float
    """The design effect."""

    def of(self, drop: float) -> float:
        """Return how often the sign-flip test finds a drop at p <= .05, over the same outcomes for every drop."""
        if not 1 < len(self.sizes) <= ENUMERATED:
            raise ValueError(f"the sign flips of {len(self.sizes)} clusters are not all enumerated")
        sizes = np.array(self.sizes, dtype=np.float64)
        lost = min(self.differing / 2 + drop, 1 - self.differing / 2)
        variance = max(0.0, lost + self.differing / 2 - drop**2) * self.effect
        chance = np.random.default_rng(SEED).standard_normal((OUTCOMES, len(sizes)))
        # Questions are lost and won as wholes: a cluster that loses as many as it wins says nothing.
        totals = np.clip(np.rint(sizes * drop + np.sqrt(sizes * variance) * chance), -sizes, sizes)
        return float(seen(totals).mean())


def seen(totals: Floats) -> Bools:
    """Return for each row of (outcomes x clusters) whether its sum is above 0, and by sign flips at p <= .05.

    A flip reaches the sum seen where the clusters that it turns add up to 0 or less, its mirror image the other end.
    """
    half = totals.shape[1] // 2
    reached = _pairs(_sums(totals[:, :half]), _sums(totals[:, half:]))
    p = 2 * reached / 2.0 ** totals.shape[1]
    found: Bools = (totals.sum(axis=1) > 0) & (p <= 1 - LEVEL + _SURE)
    return found


def _sums(totals: Floats) -> Floats:
    """Return the sums over every set of the columns."""
    sums: Floats = np.zeros((len(totals), 1))
    for column in totals.T:
        sums = np.hstack([sums, sums + column[:, None]])
    return sums


def _pairs(first: Floats, second: Floats) -> Ints:
    """Return for each row how many pairs of one value each add up to 0 or less."""
    # Rows that lie far apart are searched as one.
    apart = np.arange(len(first))[:, None] * (4 * (np.abs(first).max() + np.abs(second).max()) + 1)
    ordered = np.sort(second, axis=1) + apart
    places = np.searchsorted(ordered.ravel(), (-first + apart).ravel(), side="right").reshape(first.shape)
    counts: Ints = (places - np.arange(len(first))[:, None] * second.shape[1]).sum(axis=1)
    return counts
