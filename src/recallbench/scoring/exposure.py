"""Exposure: how much of the texts the encoder reads (clarification 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Exposure:
    """How much of a corpus lies behind the encoder's limit."""

    segments: int
    truncated: int
    gold_turns: int
    """Turns labelled as evidence; 0 where the corpus labels none."""
    cut_off: int
    """Labelled turns that start at the cut or after it."""

    @property
    def truncated_share(self) -> float | None:
        return self.truncated / self.segments if self.segments else None

    @property
    def cut_off_share(self) -> float | None:
        return self.cut_off / self.gold_turns if self.gold_turns else None


def exposure(truncated: Sequence[int], gold_turn_starts: Sequence[int], gold_turn_cuts: Sequence[int]) -> Exposure:
    """Count what is cut off: `truncated` is by segment, 1 for one that is cut, starts and cuts are by labelled turn."""
    starts, cuts = np.asarray(gold_turn_starts, dtype=np.int64), np.asarray(gold_turn_cuts, dtype=np.int64)
    if starts.shape != cuts.shape:
        raise ValueError(f"{starts.size} gold turns but {cuts.size} cuts")
    return Exposure(
        len(truncated), int(np.count_nonzero(np.asarray(truncated))), starts.size, int(np.count_nonzero(starts >= cuts))
    )
