"""Time limits of a request, counted at the socket: headers that drip count as much as a body does."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

SILENCE = 60.0
"""Seconds of a download in which not a byte came, after which none is waited for."""
SLOWEST = 10_000
"""Bytes a second that a download must bring."""
WINDOW = 60.0
"""Seconds of waiting over which that is judged."""
PAUSE = 10.0
"""Seconds before a new connection that count as waited for at most: longer, something else was being done."""


class TooSlow(Exception):
    """The peer was given its time; the text says how much of the answer came."""


class Limit(Protocol):
    """A limit on waiting; all methods raise TooSlow when it is used up."""

    def seconds_left(self) -> float: ...

    def connecting(self) -> None: ...

    def note(self, seconds: float, received: int) -> None: ...


class Deadline:
    """A limit on a whole exchange, from connecting to the last byte of the body."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._received = 0

    def seconds_left(self) -> float:
        """The seconds until the end."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TooSlow(f"{self._received} bytes of it" if self._received else "none")
        return seconds

    def connecting(self) -> None:
        """A new connection gets no time of its own."""
        self.seconds_left()

    def note(self, seconds: float, received: int) -> None:
        """Count what came."""
        self._received += received
        if not received:
            self.seconds_left()


class Pace:
    """No long silence, and a least speed: of all connections of one download together, however often one is lost."""

    def __init__(self, silence: float, slowest: float, window: float) -> None:
        self._silence, self._slowest, self._window = silence, slowest, window
        self._silent = self._waited = 0.0
        self._received = 0
        self._last = time.monotonic()

    def seconds_left(self) -> float:
        """The seconds that the next byte may take."""
        return min(self._silence - self._silent, self._window - self._waited)

    def connecting(self) -> None:
        """Count the pause before it: a peer that hangs up after each byte would cost no other time."""
        self.note(min(time.monotonic() - self._last, PAUSE), 0)

    def note(self, seconds: float, received: int) -> None:
        """Count bytes, and the wait for them: time spent on this machine is not the peer's."""
        self._last = time.monotonic()
        self._waited += seconds
        self._received += received
        self._silent = 0.0 if received else self._silent + seconds
        if self._silent >= self._silence:
            raise TooSlow(f"not a byte in {self._silence:g} s")
        if self._waited >= self._window:
            if self._received < self._slowest * self._waited:
                raise TooSlow(
                    f"{self._received} bytes in {self._waited:.3g} s, where at least "
                    f"{self._slowest / 1000:g} kB/s are expected"
                )
            self._waited, self._received = 0.0, 0


def download_pace() -> Pace:
    """The pace that every download must keep."""
    return Pace(SILENCE, SLOWEST, WINDOW)


_limit: ContextVar[Limit | None] = ContextVar("limit of waiting", default=None)


@contextmanager
def limit_waiting(limit: Limit) -> Iterator[None]:
    """Hold web clients in this block to a limit."""
    before = _limit.set(limit)
    try:
        yield
    finally:
        _limit.reset(before)


def limit_in_force() -> Limit | None:
    """Return the limit of the block that this is called in, if there is one."""
    return _limit.get()
