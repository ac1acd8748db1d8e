"""A limit for calls in this very thread: what they use (connections, transactions) may belong to it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Late(BaseException):
    """Raised inside a call that takes too long; no `except Exception` of the call's own swallows it."""


class Alarm:
    """Armed before each call and disarmed behind it; without a limit neither does anything."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds

    def arm(self) -> None:
        if self._seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def disarm(self) -> None:
        if self._seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)


def possible() -> bool:
    """Whether this thread can be interrupted at all: the main one can, where the system knows alarms."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextmanager
def alarm(seconds: float | None) -> Iterator[Alarm]:
    """An alarm of that many seconds; another's alarm that was set before goes on behind it."""
    if seconds is None:
        yield Alarm(None)
        return

    def late(number: int, frame: FrameType | None) -> None:
        raise Late

    started = time.monotonic()
    before = signal.signal(signal.SIGALRM, late)
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        yield Alarm(seconds)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if remaining:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, remaining - (time.monotonic() - started)), interval)
