"""A sweep read back from its folder."""

from __future__ import annotations

from pathlib import Path

from recallbench.results.study_folder import read_study
from recallbench.results.sweep.document import NAME, SweepDocument


def read_sweep(folder: Path) -> SweepDocument:
    """Return the study in a folder; raises InputError for another folder, and where a file was changed."""
    return read_study(folder, NAME, SweepDocument, "sweep", "sweep FILE")
