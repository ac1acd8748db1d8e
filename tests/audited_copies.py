"""Audits of many changed copies of few results: the dataset and the control that all of them have are read once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recallbench.audit.audit import Audit, audit, audit_result
from recallbench.audit.shared_readings import SharedReadings
from recallbench.results.folder import BLOCKED
from recallbench.results.result import open_result

_shared = SharedReadings()


def audit_copy(folder: Path, corpus_files: Sequence[Path] = ()) -> Audit:
    """Audit a result folder as `audit` does, in the environment of a user with nothing set up."""
    if (folder / BLOCKED).exists():
        return audit(folder, environ={})
    return audit_result(open_result(folder), corpus_files=corpus_files, environ={}, shared=_shared)
