"""An encoder that costs next to nothing: a vector of chance for each text, the same each time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

DIMS = 384


def vectors(texts: Sequence[str]) -> np.ndarray:
    """Return the vectors."""
    seeds = [int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) for text in texts]
    return np.stack([np.random.default_rng(seed).standard_normal(DIMS, np.float32) for seed in seeds])
