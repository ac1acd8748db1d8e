"""Two systems that were asked in turns: the difference of a percentile, and its test.

The two blocks of a pair follow one another, so whatever else changed on the machine changed for both; the seed draws
which goes first. If the systems are equally fast, each pair could as well have come out the other way round, however
much the times depend on one another: that is what the test is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.intervals import Interval
from recallbench.scoring.quantiles import quantile
from recallbench.scoring.sign_flips import Test, mean_intervals, sign_flip_tests

PAIRS = 10
TURNS_RULE = (
    "turns: A and B are asked in pairs of blocks that follow one another, in an order drawn by the seed; for each pair "
    "the percentile of B's block minus that of A's; their mean is compared with the means under every exchange of "
    "sides within pairs"
)


@dataclass(frozen=True, slots=True)
class TurnsDifference:
    """B minus A of one percentile, over pairs of blocks."""

    share: float
    pairs: int
    first: float
    """The mean of A's blocks, in milliseconds."""
    second: float
    difference: float
    bounds: Interval
    test: Test


def turns_order(pairs: int, seed: int) -> list[tuple[int, int]]:
    """Return the sides (0 and 1) in the order of their turns, as (pair, side): both of a pair follow one another."""
    first = np.random.default_rng(seed).integers(0, 2, pairs).tolist()
    return [(pair, side) for pair in range(pairs) for side in (first[pair], 1 - first[pair])]


def turns_difference(
    first: Sequence[Sequence[float]], second: Sequence[Sequence[float]], share: float
) -> TurnsDifference | None:
    """Compare the times of blocks, pair by pair; None where no pair has times on both sides."""
    pairs = [
        (before, after)
        for before, after in zip((quantile(b, share) for b in first), (quantile(b, share) for b in second), strict=True)
        if before is not None and after is not None
    ]
    if not pairs:
        return None
    values = np.asarray(pairs, dtype=np.float64)
    moved = (values[:, 1] - values[:, 0])[:, None]
    means = values.mean(axis=0)
    return TurnsDifference(
        share=share,
        pairs=len(pairs),
        first=float(means[0]),
        second=float(means[1]),
        difference=float(moved.mean()),
        bounds=mean_intervals(moved, np.ones(len(pairs), dtype=np.int64))[0],
        test=sign_flip_tests(moved)[0],
    )
