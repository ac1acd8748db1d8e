"""Whether two sets of vectors of the same texts count as the same."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

COSINE = 0.999999
"""Smallest cosine of a pair: other batches and engines give vectors that differ by a ten-millionth."""
LENGTH = 1e-4
"""Largest relative difference in length; an encoder that does not normalise could differ there unseen by the cosine."""


class Difference(NamedTuple):
    """The largest difference between two sets of vectors of the same texts."""

    cosine: float
    length: float
    """Relative."""

    @property
    def tolerable(self) -> bool:
        """Whether both sets count as the same."""
        return self.within(TOLERATED)

    def within(self, most: Difference) -> bool:
        """Whether the sets differ by no more than this."""
        return self.cosine >= most.cosine and self.length <= most.length


TOLERATED = Difference(COSINE, LENGTH)
"""The largest difference of two sets that count as the same."""


REDUCED = Difference(0.999, 0.01)
"""The same for vectors that are computed in fewer bits than 32, where other neighbours in a batch round otherwise."""


def vector_difference(ours: npt.NDArray[Any], theirs: npt.NDArray[Any]) -> Difference:
    """Compare two matrices row by row."""
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    lengths = np.linalg.norm(ours, axis=1), np.linalg.norm(theirs, axis=1)
    with np.errstate(all="ignore"):
        cosines = (ours * theirs).sum(axis=1) / (lengths[0] * lengths[1])
        drift = np.abs(lengths[0] / lengths[1] - 1)
    # A NaN on either side is no equality: it counts as the worst there is.
    return Difference(
        min(1.0, float(np.nan_to_num(cosines, nan=-1.0).min())),
        float(np.nan_to_num(drift, nan=np.inf).max()),
    )


def useless_vector(vectors: npt.NDArray[Any]) -> tuple[int, str] | None:
    """Return the place of the first vector that can't be compared with another, and what it is; None without one."""
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(vectors, axis=1)
    useless = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
    if not len(useless):
        return None
    first = int(useless[0])
    return first, "zeros" if lengths[first] == 0 else "NaN or infinity"
