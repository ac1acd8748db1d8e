"""Sweeps whose true values are known: questions of unequal clusters, answered alike by points that are alike."""

from __future__ import annotations

import numpy as np

from recallbench.scoring.judgement import Floats


def drawn_sweep(
    draw: np.random.Generator, values: Floats, clusters: int, questions: int = 40
) -> tuple[Floats, list[str]]:
    """Return hits (points x questions) of points with these true values on a normal scale, and the clusters.

    Clusters have 60% to 140% of so many questions; a cluster is hard for all points, and a little more for some.
    """
    hits, names = [], []
    for cluster in range(clusters):
        n = int(questions * draw.uniform(0.6, 1.4))
        ease = draw.normal(0, 1.5, n) + 0.4 * draw.normal()
        own = 0.1 * draw.normal(size=(len(values), 1)) + 0.3 * draw.normal(size=(len(values), n))
        hits.append(ease + own + values[:, None] > 0)
        names += [f"conversation {cluster}"] * n
    return np.concatenate(hits, axis=1).astype(np.float64), names
