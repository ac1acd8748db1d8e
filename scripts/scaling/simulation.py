"""A run of a store of size, phase by phase: what the constants of smaller runs say, beside what a large one took."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from scaling.constants import EF_SEARCH, Constants, Run


@dataclass(frozen=True, slots=True)
class Held:
    """A figure of a run, predicted and seen."""

    name: str
    unit: str
    predicted: float
    seen: float

    @property
    def ratio(self) -> float:
        return self.predicted / self.seen


def simulate(run: Run, of: Constants, memory_mb: float) -> list[Held]:
    """Return each figure of a run as these constants say it, beside what was seen."""
    rows, scope = float(run["segments"]), run["segments"] / run["scopes"]
    width = run["ef_search"].index(EF_SEARCH)
    return [
        Held("COPY of all segments", "s", of.copy(rows, run["characters"] / rows, run["dimensions"]), run["copy_s"]),
        Held("table", "GB", (rows * of.vector_bytes + run["characters"]) / 1e9, run["table_bytes"] / 1e9),
        Held("btree", "MB", rows * of.btree_bytes / 1e6, run["btree_bytes"] / 1e6),
        Held("HNSW", "GB", rows * of.hnsw_bytes / 1e9, run["hnsw_bytes"] / 1e9),
        Held("building the HNSW", "s", of.build(rows, memory_mb), run["build_s"]),
        Held("an exact question in its scope", "ms", of.exact(scope), run["exact_block_ms"]),
        Held(
            f"a question to the HNSW without a scope, ef_search {EF_SEARCH}",
            "ms",
            of.hop_ms * log(rows),
            run["unscoped_ms"][width],
        ),
        Held(
            "a question to the HNSW, scanned on in its scope",
            "ms",
            of.walk_ms * 10 * run["scopes"],
            run["scanned_on_ms"][0],
        ),
    ]
