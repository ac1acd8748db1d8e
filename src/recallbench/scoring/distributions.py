"""The three distributions that intervals need: normal, Student's t and binomial (tests compare them with scipy's)."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

import numpy as np

from recallbench.scoring.judgement import Floats


@cache
def normal_quantile(share: float) -> float:
    """Return the value that a standard normal variable does not exceed with this probability."""
    return NormalDist().inv_cdf(share)


@cache
def t_quantile(degrees: int, share: float) -> float:
    """Return the value that Student's t does not exceed with this probability, which is at least one half."""
    if degrees < 1 or not 0.5 <= share < 1:
        raise ValueError(f"no quantile of t({degrees}) at {share}")
    scale = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    # The distribution function is concave here, and the normal quantile lies below: each step comes nearer from there.
    quantile = normal_quantile(share)
    for _ in range(100):
        density = math.exp(scale - (degrees + 1) / 2 * math.log1p(quantile * quantile / degrees))
        step = (share - _t_probability(degrees, quantile)) / density
        quantile += step
        if abs(step) <= 1e-14 * quantile:
            break
    return quantile


def _t_probability(degrees: int, t: float) -> float:
    """Return P(T <= t) for t of 0 or more, by the finite sum that whole degrees of freedom have."""
    angle = math.atan(t / math.sqrt(degrees))
    square = math.cos(angle) ** 2
    if degrees % 2:
        steps = np.arange(1, (degrees - 1) // 2)
        terms = np.cumprod(2 * steps / (2 * steps + 1) * square)
        rest = math.sin(angle) * math.cos(angle) * (1 + float(terms.sum())) if degrees > 1 else 0.0
        return 0.5 + (angle + rest) / math.pi
    steps = np.arange(1, degrees // 2)
    terms = np.cumprod((2 * steps - 1) / (2 * steps) * square)
    return 0.5 + math.sin(angle) * (1 + float(terms.sum())) / 2


def binomial_probabilities(n: int, share: float) -> Floats:
    """Return P(X <= r) for r from 0 to n, where X counts the hits of n trials, each a hit with probability `share`."""
    if n < 1 or not 0 < share < 1:
        raise ValueError(f"no distribution of {n} trials at {share}")
    hits = np.arange(1, n + 1)
    # In logarithms: a single outcome of many trials is too small for a float.
    logs = np.cumsum(np.log((n + 1 - hits) / hits)) + hits * math.log(share) + (n - hits) * math.log1p(-share)
    return np.cumsum(np.exp(np.concatenate(([n * math.log1p(-share)], logs))))
