"""A stratified sample of queries: its allocation to strata, and the mean it gives of all recalls."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.distributions import t_quantile
from recallbench.scoring.intervals import LEVEL, Interval
from recallbench.scoring.judgement import Floats


def allocate(n: int, sizes: Mapping[str, float], most: Mapping[str, int], least: int = 1) -> dict[str, int]:
    """Return how many to take of each stratum: in proportion to its size, at least one, never more than there are.

    n must be at least the number of strata; where some are exhausted the others get their share. `least` is 0 where a
    stratum may go without.
    """
    if n < least * len(sizes):
        raise ValueError(f"{n} can't hold one of each of {len(sizes)} strata")
    total = sum(sizes.values())
    counts = dict.fromkeys(sorted(sizes), least)
    # The stratum that lacks most of its share is next: largest remainders, with caps.
    lacking = [(least - n * sizes[name] / total, name) for name in counts if most[name] > least]
    heapq.heapify(lacking)
    left = n - least * len(counts)
    while left and lacking:
        lack, name = heapq.heappop(lacking)
        counts[name] += 1
        left -= 1
        if counts[name] < most[name]:
            heapq.heappush(lacking, (lack + 1, name))
    return counts


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """The labelled queries of one stratum, an entry each."""

    recalls: float
    """All recalls of the stratum, labelled or not."""
    values: Floats
    """(queries,): the measure summed over the query's recalls that count."""
    counted: Floats
    """(queries,): the query's recalls that count; 0 with nothing to find."""
    logged: Floats
    """(queries,): the query's recalls."""

    @property
    def weight(self) -> float:
        """How many recalls of the log one labelled recall stands for."""
        return self.recalls / float(self.logged.sum())

    @property
    def covered(self) -> float:
        """The labelled share of its recalls."""
        return float(self.logged.sum()) / self.recalls


def weighted_mean(strata: Sequence[Sampled]) -> tuple[float | None, Interval]:
    """Return the mean over all recalls of these strata, a ratio of weighted sums, with its interval.

    Queries are drawn, so the recalls of one query stay together. A stratum weighs as much as it has recalls.
    """
    total = sum(stratum.weight * float(stratum.counted.sum()) for stratum in strata)
    if not strata or total == 0:
        return None, Interval(None, None, "n/a (no judged query)")
    mean = sum(stratum.weight * float(stratum.values.sum()) for stratum in strata) / total
    return mean, _interval(mean, total, strata)


def _interval(mean: float, total: float, strata: Sequence[Sampled]) -> Interval:
    """Return t over the linearised variance; strata with one labelled query are collapsed."""
    variance, degrees = 0.0, 0
    open_ = [stratum for stratum in strata if stratum.covered < 1]
    if not open_:
        return Interval(mean, mean, "none needed: every recall is judged")
    for group in _groups(open_):
        queries = sum(len(stratum.logged) for stratum in group)
        if queries < 2:
            return Interval(None, None, "n/a (one judged query)")
        moved = (
            np.concatenate([stratum.weight * (stratum.values - mean * stratum.counted) for stratum in group]) / total
        )
        weighed = np.concatenate([stratum.weight * stratum.logged for stratum in group]) / total
        # The recalls of a stratum are known, so only departures from its ratio add to the variance.
        rest = moved - weighed * (moved.sum() / weighed.sum())
        known = sum(float(stratum.logged.sum()) for stratum in group) / sum(stratum.recalls for stratum in group)
        variance += (1 - known) * queries / (queries - 1) * float(((rest - rest.mean()) ** 2).sum())
        degrees += queries - 1
    if variance <= (1e-12) ** 2:
        return Interval(None, None, "n/a (all queries equal)")
    half = t_quantile(degrees, 0.5 + LEVEL / 2) * float(np.sqrt(variance))
    method = f"t({degrees}) 95%, stratified, by query, weighted by recalls"
    return Interval(max(0.0, mean - half), min(1.0, mean + half), method)


def _groups(strata: Sequence[Sampled]) -> list[list[Sampled]]:
    alone = [stratum for stratum in strata if len(stratum.logged) == 1]
    others = sorted((stratum for stratum in strata if len(stratum.logged) > 1), key=lambda stratum: len(stratum.logged))
    if len(alone) == 1 and others:
        alone.append(others.pop(0))
    return [*([alone] if alone else []), *([other] for other in others)]
