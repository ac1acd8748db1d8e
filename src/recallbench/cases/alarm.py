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
    """Told when a call starts and ends; the timer itself is touched only when it rings, which costs calls nothing."""

    __slots__ = ("over", "seconds", "started")

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.started: float | None = None
        """When the call began that is under way; None between calls."""
        self.over = False
        """No call will begin any more: an alarm that rings late must not set itself again."""

    def ring(self, number: int, frame: FrameType | None) -> None:
        """Raise in a call that takes too long, else ring again when it would."""
        if self.over:
            return
        seconds = self.seconds or 0.0
        passed = 0.0 if self.started is None else time.monotonic() - self.started
        if passed >= seconds:
            self.started = None
            signal.setitimer(signal.ITIMER_REAL, seconds)
            raise Late
        signal.setitimer(signal.ITIMER_REAL, max(0.001, seconds - passed))


def possible() -> bool:
    """Whether this thread can be interrupted at all: the main one can, where the system knows alarms."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextmanager
def alarm(seconds: float | None) -> Iterator[Alarm]:
    """An alarm of that many seconds; another's alarm that was set before goes on behind it."""
    rung = Alarm(seconds)
    if seconds is None:
        yield rung
        return
    started = time.monotonic()
    before = signal.signal(signal.SIGALRM, rung.ring)
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield rung
    finally:
        rung.over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if remaining and before not in (signal.SIG_DFL, None):  # an alarm that nobody hears would end the process
            signal.setitimer(signal.ITIMER_REAL, max(0.001, remaining - (time.monotonic() - started)), interval)
