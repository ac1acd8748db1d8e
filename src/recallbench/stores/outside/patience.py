"""How long one call of a memory outside this project may take."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from recallbench.errors import UsageError

VARIABLE = "RECALLBENCH_STORE_TIMEOUT"
PATIENCE = 60.0
"""Seconds: long for any search, short for someone who waits for a memory that hangs."""


class Impatience(BaseException):
    """A call took too long; no Exception, so that the code it interrupts does not take it for one of its own."""


def patience_of(environ: Mapping[str, str]) -> float:
    """The seconds that the environment allows for one call."""
    given = environ.get(VARIABLE)
    if not given:
        return PATIENCE
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= 86_400:
        raise UsageError(f"{VARIABLE} can't be read", expected="seconds, from above 0 to 86400", found=given)
    return seconds


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise Impatience in this block when it takes longer, or behind it where its code swallowed that.

    In other threads than the main one nothing can be interrupted, and lateness is told behind the block alone.
    """
    started = time.monotonic()
    if threading.current_thread() is not threading.main_thread():
        yield
        _refuse_late(started, seconds)
        return

    waiting = True

    def interrupt(number: int, frame: FrameType | None) -> None:
        # Python runs this a little after the signal: what it interrupts then may be none of this block any more.
        if waiting:
            raise Impatience

    before = signal.signal(signal.SIGALRM, interrupt)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    started = time.monotonic()
    try:
        try:
            yield
        finally:
            waiting = False
        _refuse_late(started, seconds)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left and before not in (signal.SIG_DFL, None):
            # Someone else's alarm, set before this block, still has to ring; one that nobody hears would be the end.
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - started), 1e-3))


def _refuse_late(started: float, seconds: float) -> None:
    if time.monotonic() - started > seconds:
        raise Impatience
