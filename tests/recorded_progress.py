"""A progress that records its stages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from recallbench.progress import Advance, Silent


class RecordedProgress(Silent):
    """Each stage with its total, its unit and how much of it was done, and each note."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, int | None, str, int]] = []
        self.notes: list[str] = []

    def note(self, line: str) -> None:
        self.notes.append(line)

    @contextmanager
    def stage(self, name: str, total: int | None, unit: str) -> Iterator[Advance]:
        done = 0

        def advance(more: int) -> None:
            nonlocal done
            done += more

        yield advance
        self.stages.append((name, total, unit, done))
