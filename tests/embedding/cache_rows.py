"""Rows of a vector cache for tests: row `n` is the text `str(n)`, and each number of its vector is `n`."""

from __future__ import annotations

import hashlib

import numpy as np

from recallbench.embedding.own_key import Seal
from recallbench.embedding.vector_cache import RowState, VectorCache

DIMS = 5
SEAL = Seal(b"k" * 32, "fingerprint")
OTHER = Seal(b"o" * 32, "fingerprint")


def key(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()


def fill(cache: VectorCache, *numbers: int) -> None:
    cache.append(
        [key(number) for number in numbers],
        [100 + number for number in numbers],
        [200 + number for number in numbers],
        np.array([[number] * DIMS for number in numbers], np.float32),
    )


def values(cache: VectorCache, *numbers: int) -> list[float | None]:
    rows = [cache.row(key(number)) for number in numbers]
    return [None if row is None else float(cache.vectors([row])[0, 0]) for row in rows]


def states(cache: VectorCache, *numbers: int) -> list[RowState | None]:
    rows = [cache.row(key(number)) for number in numbers]
    return [None if row is None else cache.state(row) for row in rows]
