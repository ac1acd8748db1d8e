"""Whether the top score tells apart the questions that nothing in the haystack answers.

These figures are no part of the headline: LongMemEval's `_abs` questions have gold segments, too, and
count among its 500.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.distributions import normal_quantile
from recallbench.scoring.editions import CURRENT, Edition
from recallbench.scoring.intervals import LEVEL, Interval, cluster_codes
from recallbench.scoring.judgement import Floats, Ints

PASSING_SHARE = 0.95
"""The share of the answerable questions that reach the threshold."""


@dataclass(frozen=True, slots=True)
class Abstention:
    """How well the top score separates questions to abstain from and answerable ones."""

    n: int
    """Questions to abstain from."""
    answerable: int
    threshold: float | None
    """The highest score that PASSING_SHARE of the answerable questions reach, chosen without the others, which it then
    judges. -inf where too many of them came back empty, so that any hit at all counts."""
    false_retrieval: float | None
    """The share of questions to abstain from whose top score reaches the threshold."""
    false_retrieval_interval: Interval
    auroc: float | None
    """The chance that an answerable question scores above one to abstain from, a tie counting half; .5 is blind."""
    auroc_interval: Interval


def abstention(
    top_scores: Sequence[float],
    abstain: Sequence[bool],
    clusters: Sequence[str] | None = None,
    threshold: float | None = None,
    edition: Edition = CURRENT,
) -> Abstention:
    """Judge the top score of every question; -inf never counts as a false retrieval."""
    scores, mask = np.asarray(top_scores, dtype=np.float64), np.asarray(abstain, dtype=np.bool_)
    if scores.shape != mask.shape:
        raise ValueError(f"{scores.size} scores for {mask.size} questions")
    if np.isnan(scores).any():
        raise ValueError(f"the top score of the question at index {int(np.isnan(scores).argmax())} is NaN")
    negative, positive = scores[mask], scores[~mask]
    codes = None if clusters is None else cluster_codes(clusters)
    chosen = threshold_for(positive) if threshold is None else threshold
    nothing = Interval(None, None, "n/a (no question)")
    rate, rate_interval = None, nothing
    if chosen is not None and len(negative):
        wrong = ((negative >= chosen) & (negative > -np.inf)).astype(np.float64)
        rate = float(wrong.mean())
        (rate_interval,) = edition.means(wrong[:, None], [True], None if codes is None else codes[mask])
    area, area_interval = None, nothing
    if len(negative) and len(positive):
        above, below = _components(positive, negative)
        area = float(above.mean())
        parts = np.empty(len(scores))
        parts[~mask], parts[mask] = (above - area) / len(positive), (below - area) / len(negative)
        area_interval = _area_interval(area, above, below, parts, codes, edition)
    return Abstention(len(negative), len(positive), chosen, rate, rate_interval, area, area_interval)


def top_score(scores: Sequence[float] | None, *, failed: bool, abstain: bool) -> float:
    """Return the best score of a question; -inf where nothing came back.

    A failed question counts as the worst answer: nothing where something should be found, and something where
    nothing should be.
    """
    if failed:
        return math.inf if abstain else -math.inf
    return scores[0] if scores else -math.inf


def threshold_for(answerable: Floats) -> float | None:
    """Return the highest score that at least PASSING_SHARE of the answerable questions reach; None without any."""
    if not len(answerable):
        return None
    descending = np.sort(answerable)[::-1]
    return float(descending[int(np.ceil(PASSING_SHARE * len(answerable) - 1e-9)) - 1])


def _components(positive: Floats, negative: Floats) -> tuple[Floats, Floats]:
    """Return for each answerable question the share of the others that score below it, and for those the converse."""
    return _beaten(positive, negative), 1.0 - _beaten(negative, positive)


def _beaten(scores: Floats, others: Floats) -> Floats:
    ascending = np.sort(others)
    below, not_above = np.searchsorted(ascending, scores, "left"), np.searchsorted(ascending, scores, "right")
    return np.asarray((below + not_above) / (2.0 * len(others)), dtype=np.float64)


def _area_interval(
    area: float, above: Floats, below: Floats, parts: Floats, codes: Ints | None, edition: Edition
) -> Interval:
    """Return DeLong's interval; with clusters, the edition's for a sum of the same linearised parts."""
    if len(above) < 2 or len(below) < 2:
        return Interval(None, None, "n/a (one question on a side)")
    independent = float(above.var(ddof=1)) / len(above) + float(below.var(ddof=1)) / len(below)
    if codes is not None:
        return edition.sums(area, parts, codes, independent)
    if independent == 0.0:
        return Interval(None, None, "n/a (complete separation)" if area in (0.0, 1.0) else "n/a (all scores equal)")
    half = normal_quantile(0.5 + LEVEL / 2) * float(np.sqrt(independent))
    return Interval(max(0.0, area - half), min(1.0, area + half), "DeLong 95%")
