"""A stratified sample of queries: how many of each stratum, and what it says of all recalls."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.distributions import t_quantile
from recallbench.scoring.intervals import LEVEL, Interval
from recallbench.scoring.judgement import Floats


def allocate(n: int, sizes: Mapping[str, int], most: Mapping[str, int]) -> dict[str, int]:
    """How many to take of each stratum: in proportion to its size, at least one, never more than there are.

    n must reach for one of each; where strata are exhausted the others get their share.
    """
    if n < len(sizes):
        raise ValueError(f"{n} can't hold one of each of {len(sizes)} strata")
    total = sum(sizes.values())
    taken = dict.fromkeys(sorted(sizes), 1)
    # The one that lacks most of its share gets the next: largest remainders, whatever the caps.
    lacking = [(1 - n * sizes[name] / total, name) for name in taken if most[name] > 1]
    heapq.heapify(lacking)
    left = n - len(taken)
    while left and lacking:
        lack, name = heapq.heappop(lacking)
        taken[name] += 1
        left -= 1
        if taken[name] < most[name]:
            heapq.heappush(lacking, (lack + 1, name))
    return taken


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """The labelled queries of one stratum, an entry each."""

    recalls: int
    """All recalls of the stratum, labelled or not."""
    values: Floats
    """(queries,): the measure summed over the query's recalls that count."""
    counted: Floats
    """(queries,): how many of its recalls count; 0 for one with nothing to find."""
    logged: Floats
    """(queries,): how many recalls it has."""

    @property
    def weight(self) -> float:
        """How many recalls of the log stand behind one that is labelled."""
        return self.recalls / float(self.logged.sum())

    @property
    def covered(self) -> float:
        """The share of its recalls that is labelled."""
        return float(self.logged.sum()) / self.recalls


def weighted_mean(strata: Sequence[Sampled]) -> tuple[float | None, Interval]:
    """The mean over all recalls of these strata, a ratio of weighted sums, with its interval.

    Queries are drawn, recalls counted: those of one query stay together. Each stratum weighs as many recalls as it has.
    """
    total = sum(one.weight * float(one.counted.sum()) for one in strata)
    if not strata or total == 0:
        return None, Interval(None, None, "n/a (no labelled query)")
    mean = sum(one.weight * float(one.values.sum()) for one in strata) / total
    return mean, _interval(mean, total, strata)


def _interval(mean: float, total: float, strata: Sequence[Sampled]) -> Interval:
    """t over the linearised variance; a stratum with one labelled query is taken together with others (collapsed)."""
    variance, degrees = 0.0, 0
    open_ = [one for one in strata if one.covered < 1]
    if not open_:
        return Interval(mean, mean, "none needed: every recall is labelled")
    for group in _groups(open_):
        queries = sum(len(one.logged) for one in group)
        if queries < 2:
            return Interval(None, None, "n/a (one labelled query)")
        moved = np.concatenate([one.weight * (one.values - mean * one.counted) for one in group]) / total
        weighed = np.concatenate([one.weight * one.logged for one in group]) / total
        # Since a stratum's size in recalls is known, what matters is by how much a query departs from its own ratio.
        rest = moved - weighed * (moved.sum() / weighed.sum())
        known = sum(float(one.logged.sum()) for one in group) / sum(one.recalls for one in group)
        variance += (1 - known) * queries / (queries - 1) * float(((rest - rest.mean()) ** 2).sum())
        degrees += queries - 1
    if variance <= (1e-12) ** 2:
        return Interval(None, None, "n/a (all queries equal)")
    half = t_quantile(degrees, 0.5 + LEVEL / 2) * float(np.sqrt(variance))
    method = f"t({degrees}) 95%, stratified, by query, weighted by recalls"
    return Interval(max(0.0, mean - half), min(1.0, mean + half), method)


def _groups(strata: Sequence[Sampled]) -> list[list[Sampled]]:
    alone = [one for one in strata if len(one.logged) == 1]
    others = sorted((one for one in strata if len(one.logged) > 1), key=lambda one: len(one.logged))
    if len(alone) == 1 and others:
        alone.append(others.pop(0))
    return [*([alone] if alone else []), *([other] for other in others)]
