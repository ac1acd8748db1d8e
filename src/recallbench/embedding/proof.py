"""The proof that a faster forward pass gives torch's vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recallbench.embedding import machine
from recallbench.embedding.forward import Batch, Forward
from recallbench.embedding.memo import Memo
from recallbench.progress import Advance

COSINE = 0.999999
LENGTH = 1e-4
"""Largest relative difference in length; an encoder that does not normalise could differ there unseen by the cosine."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The outcome of one comparison."""

    equal: bool
    worst_cosine: float | None
    """None where nothing could be compared."""
    texts: int
    fault: str = ""
    """Why the faster one could not even run."""


class Difference(NamedTuple):
    """How far two sets of vectors of the same texts lie apart, at worst."""

    cosine: float
    length: float
    """Relative."""

    @property
    def tolerable(self) -> bool:
        """Whether they count as the same: other batches and backends give vectors that differ by a ten-millionth."""
        return self.cosine >= COSINE and self.length <= LENGTH


def difference(ours: npt.NDArray[Any], theirs: npt.NDArray[Any]) -> Difference:
    """Hold vectors against others, row by row."""
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


def compare(fast: Forward, reference: Forward, batches: Sequence[Batch], advance: Advance = lambda done: None) -> Proof:
    """Run both over the same batches."""
    worst, longest, texts = 1.0, 0.0, 0
    for batch in batches:
        ours = fast(batch)
        found = difference(ours, reference(batch))
        worst, longest = min(worst, found.cosine), max(longest, found.length)
        texts += len(ours)
        advance(len(ours))
    return Proof(Difference(worst, longest).tolerable, worst, texts)


class Proofs:
    """Proofs made on this machine, by weights, processor and library versions."""

    def __init__(self, memo: Memo) -> None:
        self._memo = memo

    def recall(self, weights: Mapping[str, str]) -> Proof | None:
        """The proof that holds for these weights here and now, if one was made."""
        fact = self._memo.recall(self._key(weights))
        return Proof(**fact) if fact else None

    def keep(self, weights: Mapping[str, str], proof: Proof) -> None:
        """Remember it, a failed one too."""
        self._memo.keep(self._key(weights), asdict(proof))

    @staticmethod
    def _key(weights: Mapping[str, str]) -> dict[str, str]:
        return {"what": "openvino equals torch", "cpu": machine.cpu_model(), **machine.library_versions(), **weights}
