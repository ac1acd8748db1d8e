"""Progress of long work: bars with rate and time left on a terminal, the same as lines elsewhere."""

from __future__ import annotations

import _thread
import os
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recallbench.cli.screen import underlying_stream
from recallbench.confidential import concealed
from recallbench.escaping.terminal import visible
from recallbench.progress import Advance, Progress, Silent

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

PATIENCE = 2.0
"""Seconds a stage may take before it is worth a bar."""
EVERY = 30.0
"""Seconds after which a log without bars shows how far the work is."""


class Notes(Silent):
    """Notes on stderr."""

    def __init__(self) -> None:
        self._left: Callable[[], float | None] = lambda: None

    def expect(self, left: Callable[[], float | None]) -> None:
        self._left = left

    def _whole(self) -> str:
        """Return what all of the work still takes, to be put behind a stage; empty where that is not known."""
        left = self._left()
        return "" if left is None else f"; the whole run {clock(left)} left"

    def note(self, text: str) -> None:
        print(visible(text), file=sys.stderr, flush=True)


class Bars(Notes):
    """Bars and notes on stderr; a stage inside another has its bar below that one's, for as long as it lasts."""

    def __init__(self) -> None:
        super().__init__()
        self._bars: RichProgress | None = None
        self._open = 0

    @contextmanager
    def stage(self, name: str, total: int | None, unit: str) -> Iterator[Advance]:
        started, done, task = time.monotonic(), 0, None

        def advance(more: int) -> None:
            nonlocal done, task
            done += more
            elapsed = time.monotonic() - started
            if elapsed < PATIENCE:
                return
            if self._bars is None:
                self._bars = _bar()
                self._bars.start()
            if task is None:
                task = self._bars.add_task(visible(concealed(name)), total=total, pace="")
            self._bars.update(task, completed=done, pace=pace(done, total, unit, elapsed) + self._whole())

        self._open += 1
        try:
            yield advance
        finally:
            self._open -= 1
            if self._bars is not None and self._open:
                if task is not None:
                    self._bars.remove_task(task)
            elif self._bars is not None:
                self._bars.stop()
                self._bars = None


@dataclass(slots=True)
class _Stage:
    name: str
    total: int | None
    unit: str
    started: float = field(default_factory=time.monotonic)
    done: int = 0

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    def __str__(self) -> str:
        if not self.done:
            told = f"0 of {self.total:,} {self.unit} after" if self.total else "under way for"
            return f"{self.name}: {told} {self.elapsed:.0f} s"
        share = f" {self.done / self.total:.0%}," if self.total else ""
        counted = f"{self.done:,}" + (f" of {self.total:,}" if self.total else "")
        return f"{self.name}:{share} {counted} {self.unit}, {pace(self.done, self.total, self.unit, self.elapsed)}"


class Lines(Notes):
    """Notes on stderr, and a line of progress after a while of silence: for logs and pipes.

    A thread watches the clock, so that silent work is seen to be alive too. Of nested stages it names the outermost,
    with the time left of the whole, and the innermost that lasts: what is over in a moment says nothing.
    """

    def __init__(self, every: float = EVERY) -> None:
        super().__init__()
        self._every = every
        self._last_shown = time.monotonic()
        self._stages: list[_Stage] = []
        self._latest = "the start"
        self._look = every / 30
        self._patience = every * PATIENCE / EVERY
        _thread.start_new_thread(_watch, (weakref.ref(self), self._look))

    def note(self, text: str) -> None:
        self._last_shown = time.monotonic()
        self._latest = text.splitlines()[0] if text else self._latest
        super().note(text)

    @contextmanager
    def stage(self, name: str, total: int | None, unit: str) -> Iterator[Advance]:
        stage = _Stage(name, total, unit)
        self._stages.append(stage)

        def advance(more: int) -> None:
            stage.done += more

        try:
            yield advance
        finally:
            self._stages.remove(stage)
            self._latest = name

    def write_if_due(self) -> None:
        """Write how far the work is, after too long a silence."""
        now = time.monotonic()
        if now + self._look - self._last_shown < self._every:
            return
        # Written past Python's buffers: at the end of the process nobody must wait for a lock of this thread's.
        open_ = list(self._stages)
        lasting = [stage for stage in open_ if stage.elapsed >= self._patience] or open_[:1]
        shown = lasting[:1] + lasting[1:][-1:]
        line = ("; ".join(map(str, shown)) or f"still at work; last: {self._latest}") + self._whole()
        os.write(2, f"{visible(concealed(line))}\n".encode(errors="backslashreplace"))
        self._last_shown = now


def _watch(progress: weakref.ref[Lines], seconds: float) -> None:
    """Have the progress written for as long as anybody holds it."""
    while True:
        time.sleep(seconds)
        lines = progress()
        if lines is None:
            return
        try:
            lines.write_if_due()
        except OSError:  # the reader of stderr went away
            return
        del lines


def pace(done: int, total: int | None, unit: str, elapsed: float) -> str:
    """Return the rate so far, and the time left if it stays so."""
    rate = done / elapsed
    speed = f"{rate:,.1f} {unit}/s" if unit != "B" else f"{rate / 1e6:,.1f} MB/s"
    if total is None or not rate:
        return speed
    return f"{speed}, {clock(max(total - done, 0) / rate)} left"


def clock(time_left: float) -> str:
    """Return seconds as hours, minutes and seconds."""
    minutes, seconds = divmod(round(time_left), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def _bar() -> RichProgress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}", markup=False),
        console=Console(file=underlying_stream(sys.stderr)),
        # Else what is printed meanwhile would be read for colours, past the screen.
        redirect_stdout=False,
        redirect_stderr=False,
    )


def listener(quiet: bool) -> Progress:
    """Return the progress that fits stderr: none when quiet, bars on a terminal, lines elsewhere."""
    if quiet:
        return Silent()
    return Bars() if sys.stderr.isatty() else Lines()
