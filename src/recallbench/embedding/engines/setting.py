"""How an engine is given the texts of a batch, and the pieces that a batch is cut into for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recallbench.embedding.embedder import Matrix
from recallbench.embedding.torch_engine import Batch, Engine

FEWEST = 3 / 4
"""The share of a piece's longest text that its shortest one has at least: padding is never more than the rest."""


class Setting(NamedTuple):
    """What a probe decides about an engine. It changes the speed, and a vector by a ten-millionth at most."""

    texts: int = 8
    """Texts of full length in a piece; of shorter ones there are more."""
    fixed: bool = False
    """Whether texts of full length run on a graph that was compiled for their shape alone."""

    @property
    def words(self) -> str:
        """The setting for whoever reads of it."""
        texts = "a text" if self.texts == 1 else f"{self.texts} texts"
        return f"{texts} at a time{', a graph for full windows' if self.fixed else ''}"


WHOLE_BATCHES = Setting()


class Piece(NamedTuple):
    """Texts that go through an engine together."""

    rows: npt.NDArray[np.intp]
    """Their places in the batch."""
    batch: Batch


def pieces(batch: Batch, texts: int, window: int) -> list[Piece]:
    """Cut a batch into pieces, the longest texts first, each as wide as its own longest text.

    A piece has at most the tokens of so many full windows.
    """
    lengths = batch.mask.sum(axis=1)
    order = np.argsort(-lengths, kind="stable")
    cut: list[Piece] = []
    while len(order):
        longest = int(lengths[order[0]])
        alike = int(np.count_nonzero(lengths[order] >= FEWEST * longest))
        count = min(alike, max(1, texts * window // max(longest, 1)))
        rows, order = order[:count], order[count:]
        cut.append(Piece(rows, Batch(batch.ids[rows, :longest], batch.mask[rows, :longest])))
    return cut


def in_pieces(engine: Engine, texts: int, window: int) -> Engine:
    """Return an engine that is given a batch piece by piece."""

    def run(batch: Batch) -> Matrix:
        cut = pieces(batch, texts, window)
        return joined(cut, [engine(piece.batch) for piece in cut])

    return run


def joined(cut: Sequence[Piece], vectors: Sequence[Matrix]) -> Matrix:
    """Return the vectors of the pieces of a batch, in the batch's order."""
    whole: Matrix = np.empty((sum(map(len, vectors)), vectors[0].shape[1]), np.float32)
    for piece, part in zip(cut, vectors, strict=True):
        whole[piece.rows] = part
    return whole


def settings_to_try(batch_size: int) -> Sequence[Setting]:
    """Return the settings that a probe compares: whole batches, and text by text."""
    return [Setting(texts) for texts in dict.fromkeys((batch_size, 1))]
