"""Progress on a terminal: a bar with rate and time left for every stage that lasts."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recallbench.progress import Advance, Progress, Silent

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

PATIENCE = 2.0
"""Seconds a stage may take before it is worth a bar."""


class Notes(Silent):
    """No bars, but notes on stderr: for logs and pipes."""

    def note(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


class Bars(Notes):
    """Bars and notes on stderr."""

    @contextmanager
    def stage(self, name: str, total: int | None, unit: str) -> Iterator[Advance]:
        started, done, bar, task = time.monotonic(), 0, None, None

        def advance(more: int) -> None:
            nonlocal done, bar, task
            done += more
            if bar is None and time.monotonic() - started >= PATIENCE:
                bar = _bar(unit)
                bar.start()
                task = bar.add_task(name, total=total, completed=done, start=True)
            elif bar is not None and task is not None:
                bar.update(task, advance=more)

        try:
            yield advance
        finally:
            if bar is not None:
                bar.stop()


def _bar(unit: str) -> RichProgress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("–" if speed is None else f"{speed:,.1f} {unit}/s")

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TextColumn("elapsed"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )


def listener(quiet: bool) -> Progress:
    """What fits where stderr goes: nothing when quiet, bars on a terminal, notes elsewhere."""
    if quiet:
        return Silent()
    return Bars() if sys.stderr.isatty() else Notes()
