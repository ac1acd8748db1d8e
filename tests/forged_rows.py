"""Forgeries by somebody who may write to a cache of vectors."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from recallbench.embedding.vector_cache import RECORD

Change = Callable[[Any, Any], None]


def forge(folder: Path, rows: Iterable[int] | None, change: Change) -> None:
    """Change the record and the vector of these rows (None: of all) in place, and give them right checksums."""
    index = np.fromfile(folder / "index", RECORD)
    vectors = np.fromfile(folder / "vectors.f32", np.float32).reshape(len(index), -1)
    for row in range(len(index)) if rows is None else rows:
        change(index[row], vectors[row])
        head = index[row].tobytes()[: RECORD.itemsize - 4]
        index[row]["crc"] = zlib.crc32(vectors[row].tobytes(), zlib.crc32(head))
    # Overwritten in place, so that whoever has the files open reads the forgery.
    for name, body in (("index", index.tobytes()), ("vectors.f32", vectors.tobytes())):
        with (folder / name).open("r+b") as file:
            file.write(body)


def turn(record: Any, vector: Any) -> None:
    """Another vector of the same length."""
    vector[:] = np.roll(vector, 1)
