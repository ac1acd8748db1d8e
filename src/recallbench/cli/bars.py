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
            elapsed = time.monotonic() - started
            if elapsed < PATIENCE:
                return
            if bar is None:
                bar = _bar()
                bar.start()
                task = bar.add_task(name, total=total, pace="")
            if task is not None:
                bar.update(task, completed=done, pace=pace(done, total, unit, elapsed))

        try:
            yield advance
        finally:
            if bar is not None:
                bar.stop()


def pace(done: int, total: int | None, unit: str, elapsed: float) -> str:
    """Rate so far, and the time left if it stays so."""
    rate = done / elapsed
    told = f"{rate:,.1f} {unit}/s" if unit != "B" else f"{rate / 1e6:,.1f} MB/s"
    if total is None or not rate:
        return told
    minutes, seconds = divmod(round(max(total - done, 0) / rate), 60)
    return f"{told}, {minutes}:{seconds:02d} left"


def _bar() -> RichProgress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}"),
        console=Console(stderr=True),
    )


def listener(quiet: bool) -> Progress:
    """What fits where stderr goes: nothing when quiet, bars on a terminal, notes elsewhere."""
    if quiet:
        return Silent()
    return Bars() if sys.stderr.isatty() else Notes()
