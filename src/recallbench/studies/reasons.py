"""Why a part of a study has no figures, as a document may hold it."""

from __future__ import annotations

import re

_PATH = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)*([\w.+-]+)")


def without_folders(reason: str) -> str:
    """Return a reason with the last names of its paths alone: those of one machine help nobody else."""
    return _PATH.sub(r"\1", reason)
