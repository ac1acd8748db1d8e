"""A latency study read back from its folder."""

from __future__ import annotations

from pathlib import Path

from recallbench.results.load.levels import NAME, LatencyDocument
from recallbench.results.study_folder import read_study


def read_latency(folder: Path) -> LatencyDocument:
    """Return the study in a folder; raises InputError for another folder, and where a file was changed."""
    return read_study(folder, NAME, LatencyDocument, "latency study", "latency CORPUS")
