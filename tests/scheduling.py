"""Which worker of a parallel run takes which tests."""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

TOGETHER = ("tests/embedding/", "tests/exports/", "tests/scoring/")
"""Folders whose files all go to one worker: what they load takes seconds of a processor, for each that loads it."""


class ByFile(LoadFileScheduling):
    """Gives a worker one file after the other, and a folder of those that load the same as if it were one file."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return next((folder for folder in TOGETHER if file.startswith(folder)), file)
