"""The place of candidates that were looked at above those that were not."""

from __future__ import annotations

import numpy as np

from recallbench.retrieval.stages.candidates import Candidates

STEP = 1e-6
"""How far a score lies below the one before, as a share of the last that was given: 1 at least."""


def above_rest(head: Candidates, candidates: Candidates) -> Candidates:
    """Return the candidates with the first of each question in the order, and with the scores, that `head` has.

    The rest keeps its order below them: each of its scores is lower than the one before, since what a stage gave and
    what came from before it can't be compared. Where `head` has nothing of a question, all stays as it was.
    """
    width = head.ids.shape[1]
    ids, scores = candidates.ids.copy(), candidates.scores.copy()
    ids[:, :width][head.present] = head.ids[head.present]
    scores[:, :width][head.present] = head.scores[head.present]
    rows = np.flatnonzero((head.sizes > 0) & (head.sizes < candidates.sizes))
    if len(rows):
        sizes = head.sizes[rows, None]
        last = head.scores[rows, sizes[:, 0] - 1][:, None]
        places = np.arange(ids.shape[1]) - sizes + 1
        below = last - places * np.maximum(1.0, STEP * np.abs(last))
        rest = candidates.present[rows] & (places > 0)
        scores[rows] = np.where(rest, below, scores[rows])
    return Candidates(ids, scores, candidates.sizes)
