"""What a paired comparison over n questions could see, told before it is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from recallbench.scoring.distributions import normal_quantile, t_quantile
from recallbench.scoring.intervals import LEVEL, Interval, cluster_codes, clustered, score_difference, wilson_bounds
from recallbench.scoring.judgement import Floats
from recallbench.scoring.paired import POWER, detectable_difference
from recallbench.scoring.planning.cluster_power import ClusterPower
from recallbench.scoring.sign_flips import ENUMERATED

_STEPS = 40
_ENUMERATED_STEPS = 11
"""As fine as outcomes tell it: to .0005."""
_ROUNDING = 1e-9


def differing_by_chance(level: float) -> float:
    """Return the share of questions that differ between two systems that find and miss independently of each other.

    Two versions of one system share most of what they find, so that fewer differ: this is the cautious assumption.
    """
    return 2 * level * (1 - level)


def differing_seen(first: Floats, second: Floats) -> float:
    """Return the share of questions that two results move both ways alike; one question more than were seen.

    What moved in one direction alone is the difference itself.
    """
    wins, losses = (int((moved > 0).sum()) for moved in (second - first, first - second))
    return min(1.0, (2 * min(wins, losses) + 1) / len(first))


def detectable_drop(
    n: int, level: float, differing: float, clusters: Sequence[int] | None = None, effect: float = 1.0
) -> float:
    """Return the least drop that is seen four times in five at p < .05, before Holm; nan where none up to `level` is.

    The share `differing` moves in both directions alike, and the drop comes on top of it. With `clusters`, the number
    of questions of each, questions depend on each other, and `effect` is the design effect. The sign flips of few
    clusters are worked out; else the bounds are those of a comparison of so many questions (`scoring/paired.py`),
    which says of them what it could detect.
    """
    units = n if clusters is None else len(clusters)
    # Sign flips of so few units reach no p of .05, whatever happens.
    if 2 * 0.5**units > 1 - LEVEL + _ROUNDING:
        return float("nan")
    if clusters is not None and units <= ENUMERATED:
        power = ClusterPower(clusters, differing, effect)
        return _least(lambda drop: power.of(drop) >= POWER, level, _ENUMERATED_STEPS)
    sure_share = 0.5 + LEVEL / 2
    # Over clusters the interval is t's, where the score interval of pairs has the normal quantile.
    wider = 1.0 if clusters is None else t_quantile(units - 1, sure_share) / normal_quantile(sure_share)

    def detected(drop: float) -> bool:
        bounds = score_difference(differing / 2 * n, min(differing / 2 + drop, 1 - differing / 2) * n, n)
        if bounds.low is None or bounds.high is None:
            return drop >= 1.0
        half = (bounds.high - bounds.low) / 2 * effect**0.5 * wider
        sure = detectable_difference(Interval(-half, half, ""), units, clusters is None)
        return drop >= (1.0 if sure is None else sure)

    return _least(detected, level, _STEPS)


def _least(detected: Callable[[float], bool], most: float, steps: int) -> float:
    """Return the least drop that is detected, of those up to the most; nan where the most is not."""
    low, high = 0.0, most
    if not detected(high):
        return float("nan")
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (low, middle) if detected(middle) else (middle, high)
    return high


def half_width(n: int, level: float, effect: float = 1.0) -> float:
    """Return half of the 95% interval of a share of n questions."""
    low, high = wilson_bounds(level, n / effect)
    return (high - low) / 2


def design_effect(values: Floats, clusters: Sequence[str]) -> float:
    """Return by how much clusters widen the variance of a mean; at least 1, and 1 where nothing tells."""
    codes = cluster_codes(clusters)
    if codes is None or len(np.unique(codes)) < 2:
        return 1.0
    # Differences from -1 to 1 too are mapped to 0 to 1, which leaves the ratio as it is.
    return max(1.0, clustered((1 + values) / 2, codes).design_effect or 1.0)
