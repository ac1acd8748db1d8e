"""Several calls at a time of what waits for a server, with the outcomes in the order of the calls."""

from __future__ import annotations

import _thread
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Generic, TypeVar

from recallbench.errors import Blocked, InputError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Attempt(Generic[T]):
    """What became of a call."""

    value: T | None
    error: BaseException | None
    seconds: float
    """How long it took."""

    def result(self) -> T:
        """Return what the call returned; raises what it raised."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


def attempts(calls: Sequence[Callable[[], T]], at_once: int) -> Iterator[Attempt[T]]:
    """Yield what became of each call, in their order; no more than so many are under way at a time.

    One at a time they are made by this thread, each when its outcome is asked for.
    """
    if at_once == 1 or len(calls) == 1:
        yield from map(_attempt, calls)
        return
    waiting: SimpleQueue[int | None] = SimpleQueue()
    done: SimpleQueue[tuple[int, Attempt[T]]] = SimpleQueue()

    def work() -> None:
        # A signal is to wake the thread that waits for the outcomes, and Python hands it to no other.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        while (place := waiting.get()) is not None:
            done.put((place, _attempt(calls[place], BaseException)))

    workers = min(at_once, len(calls))
    try:
        for place in range(workers):
            waiting.put(place)
            # Not waited for at the end of the program: a server that hangs would hold it up.
            _thread.start_new_thread(work, ())
        came: dict[int, Attempt[T]] = {}
        following = workers
        for place in range(len(calls)):
            while place not in came:
                at, attempt = done.get()
                came[at] = attempt
                if following < len(calls):
                    waiting.put(following)
                    following += 1
            yield came.pop(place)
    finally:
        for _ in range(workers):
            waiting.put(None)


def _attempt(
    call: Callable[[], T], kind: type[BaseException] | tuple[type[BaseException], ...] = (InputError, Blocked)
) -> Attempt[T]:
    started = time.perf_counter()
    try:
        value = call()
    except kind as error:
        return Attempt(None, error, time.perf_counter() - started)
    return Attempt(value, None, time.perf_counter() - started)
