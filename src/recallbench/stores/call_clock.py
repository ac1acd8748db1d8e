"""The time that a store's calls of the system under test take, apart from what its adapter does around them."""

from __future__ import annotations

from time import perf_counter


class CallClock:
    """Adds up the seconds of the blocks that it is used for."""

    __slots__ = ("_started", "seconds")

    def __init__(self) -> None:
        self.seconds = self._started = 0.0

    def __enter__(self) -> None:
        self._started = perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds += perf_counter() - self._started
