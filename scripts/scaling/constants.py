"""The constants of the machine, from measured runs: each run is a table of measured.toml with its command."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("measured.toml")
EF_SEARCH = 40
"""The width whose times stand in the tables."""
DIMENSIONS = 1024
"""Of the vectors that everything is worked out for."""
K = 10
"""Hits that a question asks for."""
Run = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Constants:
    """What one segment, one comparison and one question take on the machine that was measured."""

    copy_s: float
    """Seconds for a byte by COPY: of a vector's four for each dimension, and of a text."""
    vector_bytes: float
    """Bytes of a segment in its table beside its text."""
    btree_bytes: float
    hnsw_bytes: float
    """Bytes of a segment in an index."""
    ask_ms: float
    """Milliseconds that a question takes before anything is compared."""
    compare_ms: float
    """Milliseconds for each segment of the scope."""
    build_s: float
    """Seconds for a segment and for each natural logarithm of their number, while the graph fits into memory."""
    outgrown: float
    """How many times as long a segment takes once the graph does not fit."""
    graph_bytes: float
    """Bytes of a segment in the memory of a build."""
    hop_ms: float
    """Milliseconds of a question to the index, for each natural logarithm of the number of segments."""
    walk_ms: float
    """Milliseconds for each row that a scan goes on over, until a scope has given enough."""

    def copy(self, rows: float, characters: float, dimensions: int = DIMENSIONS) -> float:
        """Return the seconds to take in so many segments whose texts have so many characters each."""
        return self.copy_s * rows * (4 * dimensions + characters)

    def build(self, rows: float, memory_mb: float) -> float:
        """Return the seconds to build an index of so many rows in so much memory."""
        inside = min(rows, self.fitting(memory_mb))
        return self.build_s * log(max(rows, 2)) * (inside + self.outgrown * (rows - inside))

    def fitting(self, memory_mb: float) -> float:
        """Return the segments whose graph is built in so much memory."""
        return memory_mb * (1 << 20) / self.graph_bytes

    def exact(self, scope: float) -> float:
        """Return the milliseconds of an exact question in a scope of that size."""
        return self.ask_ms + self.compare_ms * scope


def read(file: Path = FILE) -> dict[str, Any]:
    """Return the measured runs, the assumptions and the prices."""
    return tomllib.loads(file.read_text("utf-8"))


def smaller(runs: Sequence[Run]) -> tuple[list[Run], Run]:
    """Return the runs that constants are taken from, and the largest, which they are held against."""
    *others, largest = sorted(runs, key=lambda run: int(run["segments"]))
    return list(others), largest


def constants(runs: Sequence[Run]) -> Constants:
    """Return the constants that fit these runs best."""
    rows = [float(run["segments"]) for run in runs]
    total, characters = sum(rows), sum(run["characters"] for run in runs)

    def each(name: str) -> float:
        return float(sum(run[name] for run in runs)) / total

    # Of scopes alone: a scan over all of the table reads ahead, and takes a fraction for each segment.
    ask, compare = _line([run["segments"] / run["scopes"] for run in runs], [run["exact_block_ms"] for run in runs])
    width = runs[0]["ef_search"].index(EF_SEARCH)
    outgrown = [_outgrown(run) for run in runs if "outgrown_s" in run]
    return Constants(
        copy_s=sum(run["copy_s"] for run in runs)
        / sum(4 * run["dimensions"] * run["segments"] + run["characters"] for run in runs),
        vector_bytes=(sum(run["table_bytes"] for run in runs) - characters) / total,
        btree_bytes=each("btree_bytes"),
        hnsw_bytes=each("hnsw_bytes"),
        ask_ms=ask,
        compare_ms=compare,
        build_s=sum(run["build_s"] for run in runs) / sum(n * log(n) for n in rows),
        outgrown=sum(outgrown) / len(outgrown),
        graph_bytes=max(run["outgrown_mb"] * (1 << 20) / run["outgrown_after"] for run in runs if "outgrown_s" in run),
        hop_ms=sum(run["unscoped_ms"][width] for run in runs) / sum(map(log, rows)),
        walk_ms=sum(run["scanned_on_ms"][0] / (K * run["scopes"]) for run in runs) / len(runs),
    )


def _outgrown(run: Run) -> float:
    """Return how many times as long a row took that found no room, beside one that had it."""
    inside = run["outgrown_after"] / run["segments"]
    return float((run["outgrown_s"] / run["build_s"] - inside) / (1 - inside))


def _line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Return intercept and slope of the line through these points, by least squares; the intercept not below 0."""
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / sum((x - mean_x) ** 2 for x in xs)
    return max(mean_y - slope * mean_x, 0.0), slope
