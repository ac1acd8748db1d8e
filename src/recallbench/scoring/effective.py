"""Intervals of a mean of values from 0 to 1 that also cover near 0 and 1, from few questions or clusters.

A mean of fractional values is taken as the share of hits in an effective number of trials, which is what gives a share
the variance observed. Half a hit and half a miss are added, so that a sample without any spread claims no certainty.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recallbench.scoring.distributions import t_quantile
from recallbench.scoring.intervals import LEVEL, Interval, wilson, wilson_bounds
from recallbench.scoring.judgement import Floats, Ints

_LUCK = 2
"""No interval over clusters is narrower than Wilson's over this many times the trials."""
_NOTHING = (1e-12) ** 2
"""Variances up to this are rounding."""


def mean_intervals(values: Floats, binary: Sequence[bool], clusters: Ints | None) -> list[Interval]:
    """Return one interval for the mean of each column of `values` (questions x measures).

    Wilson's for shares, and for other values over the number of trials that has their variance. Where questions share
    clusters: a jackknife over whole clusters on the logit scale.
    """
    n = len(values)
    if n == 0:
        return [Interval(None, None, "n/a (no question)")] * values.shape[1]
    if clusters is None or len(np.unique(clusters)) == n:
        trials = _trials(values)
        return [
            wilson(float(column.sum()), n)
            if is_binary
            else Interval(*wilson_bounds(float(column.mean()), count), "Wilson 95% over trials of the same variance")
            for is_binary, column, count in zip(binary, values.T, trials.tolist(), strict=True)
        ]
    means = values.mean(axis=0)
    totals, counts = _by_cluster((values - means) / n, clusters)
    independent = values.var(axis=0, ddof=1) / n
    return jackknifed(means, totals, counts, independent, _trials(values))


def sum_interval(centre: float, influence: Floats, clusters: Ints, independent: float) -> Interval:
    """Return the interval over clusters of any statistic from 0 to 1 that is `centre` plus a sum of influences.

    `independent` is its variance if questions were independent.
    """
    if independent <= _NOTHING:
        return Interval(None, None, "n/a (all questions equal)")
    trials = max(1.0, centre * (1 - centre) / independent)
    totals, counts = _by_cluster(influence[:, None], clusters)
    return jackknifed(np.array([centre]), totals, counts, np.array([independent]), np.array([trials]))[0]


def _by_cluster(influences: Floats, clusters: Ints) -> tuple[Floats, Ints]:
    """Return the sum of each column by cluster, and how many questions each cluster has."""
    index = np.unique(clusters, return_inverse=True)[1]
    counts = np.bincount(index)
    totals = np.add.reduceat(influences[np.argsort(index, kind="stable")], np.cumsum(counts) - counts, axis=0)
    return totals, counts


def _trials(values: Floats) -> Floats:
    """Return, by column, how many trials with the outcomes 0 and 1 would give a mean of the same variance.

    As many as there are questions where values are 0 and 1, and more the less they spread.
    """
    n = len(values)
    mean = (values.sum(axis=0) + 0.5) / (n + 1)
    spread = ((values * values).sum(axis=0) + 0.5) / (n + 1) - mean * mean
    return np.asarray(n * mean * (1 - mean) / spread, dtype=np.float64)


def jackknifed(centres: Floats, totals: Floats, counts: Ints, independent: Floats, trials: Floats) -> list[Interval]:
    """Return one interval per column: t with G-1 degrees of freedom over the logits without each cluster in turn.

    `totals` are the sums of influences (clusters x columns), `independent` their variances without clusters. Clusters
    that happen to be all but alike are luck: no interval is narrower than Wilson's over twice the trials.
    """
    groups = len(counts)
    if groups < 2:
        return [Interval(None, None, "n/a (one cluster)")] * len(centres)
    variances = groups / (groups - 1) * (totals * totals).sum(axis=0)
    remaining = (1 - counts / counts.sum())[:, None]
    left = np.clip(centres - totals / remaining, 0.0, 1.0)
    logits = _logit((left * trials * remaining + 0.5) / (trials * remaining + 1))
    spread = np.sqrt((groups - 1) / groups * ((logits - logits.mean(axis=0)) ** 2).sum(axis=0))
    middle = _logit((centres * trials + 0.5) / (trials + 1))
    half = t_quantile(groups - 1, 0.5 + LEVEL / 2) * spread
    method = f"jackknife t({groups - 1}) 95% over {groups} clusters on the logit scale"
    lows, highs = _share(middle - half), _share(middle + half)
    effects = [
        # A column that is constant but for rounding has no design effect.
        float(variance / alone) if alone > _NOTHING else None
        for variance, alone in zip(variances, independent, strict=True)
    ]
    intervals = []
    for i, effect in enumerate(effects):
        if variances[i] <= _NOTHING:
            why = "all questions equal" if effect is None else "all clusters equal"
            intervals.append(Interval(None, None, f"n/a ({why})", effect))
            continue
        low, high = wilson_bounds(float(centres[i]), _LUCK * float(trials[i]))
        intervals.append(Interval(min(low, float(lows[i])), max(high, float(highs[i])), method, effect))
    return intervals


def _logit(share: Floats) -> Floats:
    return np.asarray(np.log(share / (1 - share)), dtype=np.float64)


def _share(logit: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-logit)), dtype=np.float64)
