"""Quantiles of the normal and of Student's distribution: importing scipy's costs more than a command's own work."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

import numpy as np


@cache
def normal_quantile(share: float) -> float:
    """What the standard normal distribution does not exceed with this probability."""
    return NormalDist().inv_cdf(share)


@cache
def t_quantile(degrees: int, share: float) -> float:
    """What Student's t with so many degrees of freedom does not exceed with this probability, of at least one half."""
    if degrees < 1 or not 0.5 <= share < 1:
        raise ValueError(f"no quantile of t({degrees}) at {share}")
    scale = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    # The distribution function is concave here, and the normal quantile lies below: each step comes nearer from there.
    found = normal_quantile(share)
    for _ in range(100):
        density = math.exp(scale - (degrees + 1) / 2 * math.log1p(found * found / degrees))
        step = (share - _cumulated(degrees, found)) / density
        found += step
        if abs(step) <= 1e-14 * found:
            break
    return found


def _cumulated(degrees: int, t: float) -> float:
    """P(T <= t) for t of 0 or more, by the finite sum that whole degrees of freedom have."""
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
