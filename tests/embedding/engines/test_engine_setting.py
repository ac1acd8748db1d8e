"""A batch is cut into pieces with hardly any padding, and comes back in its own order."""

from __future__ import annotations

import numpy as np

from recallbench.embedding.engines.setting import Setting, in_pieces, pieces, settings_to_try
from recallbench.embedding.torch_engine import Batch, pad_batch


def batch_of(*lengths: int) -> Batch:
    return pad_batch([np.arange(1, length + 1, dtype=np.int32) for length in lengths], 0)


def shapes(*lengths: int, texts: int = 1) -> list[tuple[list[int], tuple[int, ...]]]:
    return [(piece.rows.tolist(), piece.batch.ids.shape) for piece in pieces(batch_of(*lengths), texts, 16)]


def test_texts_of_full_length_go_alone_and_short_ones_together() -> None:
    assert shapes(16, 3, 16, 4, 4, 2) == [([0], (1, 16)), ([2], (1, 16)), ([3, 4, 1], (3, 4)), ([5], (1, 2))]
    assert shapes(16, 16, 16, texts=2) == [([0, 1], (2, 16)), ([2], (1, 16))]
    # No more tokens than a full window has: four texts of four.
    assert shapes(4, 4, 4, 4, 4) == [([0, 1, 2, 3], (4, 4)), ([4], (1, 4))]


def test_a_piece_is_at_most_a_quarter_padding() -> None:
    for piece in pieces(batch_of(*range(1, 17)), 8, 16):
        assert piece.batch.mask.sum() >= piece.batch.mask.size * 3 / 4
        assert piece.batch.mask[0].all()


def test_vectors_come_back_in_the_order_of_the_batch() -> None:
    batch = batch_of(2, 9, 1, 16, 9)
    sums = in_pieces(lambda piece: (piece.ids * piece.mask).sum(1, keepdims=True).astype(np.float32), 1, 16)(batch)
    assert sums.tolist() == [[3.0], [45.0], [1.0], [136.0], [45.0]]


def test_a_probe_tries_whole_batches_and_single_texts() -> None:
    assert settings_to_try(8) == [Setting(8), Setting(1)]
    assert settings_to_try(1) == [Setting(1)]


def test_a_setting_is_told_in_words() -> None:
    assert Setting().words == "8 texts at a time"
    assert Setting(1, fixed=True).words == "a text at a time, a graph for full windows"
