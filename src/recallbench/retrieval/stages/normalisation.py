"""The scores of one list brought to a scale that others share, for each question by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from recallbench.retrieval.stages.candidates import Candidates, Scores


def minmax(candidates: Candidates) -> Scores:
    """Return scores from 0, the lowest of a question, to 1, its highest.

    Equal scores are 1 each, as that of a single candidate is; scores that are all 0 stay 0, for they found nothing.
    """
    present, scores = _scores(candidates)
    if not scores.size:
        return scores
    lowest = np.where(present, scores, np.inf).min(1, keepdims=True)
    highest = np.where(present, scores, -np.inf).max(1, keepdims=True)
    range_ = np.where(candidates.sizes[:, None] > 0, highest - lowest, 0.0)
    scaled = np.divide(scores - lowest, range_, out=(scores != 0).astype(np.float64), where=present & (range_ > 0))
    return np.where(present, scaled, 0.0)


def z(candidates: Candidates) -> Scores:
    """Return the standard deviations of a question that its scores lie above their mean; equal scores are all 0."""
    present, scores = _scores(candidates)
    count = np.maximum(candidates.sizes, 1)[:, None]
    distance = np.where(present, scores - scores.sum(1, keepdims=True) / count, 0.0)
    deviation = np.sqrt((distance**2).sum(1, keepdims=True) / count)
    equal = _all_equal(candidates)[:, None]
    scaled: Scores = np.divide(distance, deviation, out=np.zeros_like(scores), where=present & ~equal & (deviation > 0))
    return scaled


def none(candidates: Candidates) -> Scores:
    """Return the scores as they are."""
    return _scores(candidates)[1]


NORMALISATIONS: Mapping[str, Callable[[Candidates], Scores]] = {"minmax": minmax, "z": z, "none": none}


def _scores(candidates: Candidates) -> tuple[npt.NDArray[np.bool_], Scores]:
    present = candidates.present
    return present, np.where(present, candidates.scores, 0.0)


def _all_equal(candidates: Candidates) -> npt.NDArray[np.bool_]:
    # A mean of equal numbers may miss them by a last digit.
    equal: npt.NDArray[np.bool_] = (~candidates.present | (candidates.scores == candidates.scores[:, :1])).all(1)
    return equal
