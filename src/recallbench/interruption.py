"""One signal ends the program: in good order where that can be done in time, else at once.

Python hands a signal to the main thread, and only when that comes back from what it waits for: a library that waits for
a server which was stopped never does, and cleaning up asks that very server again. So a thread of its own hears of the
signal too, and has the last word.
"""

from __future__ import annotations

import _thread
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from select import POLLOUT, poll

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 6.0
"""Seconds that the program has to end in good order: short enough for those who wait ten before they kill."""

_undoing: dict[int, Callable[[], None]] = {}
_numbers = count()


def on_forced_end(undone: Callable[[], None]) -> Callable[[], None]:
    """Have this done, the latest first, should the program have to end at once; returns what takes that back."""
    number = next(_numbers)
    _undoing[number] = undone

    def forget() -> None:
        _undoing.pop(number, None)

    return forget


def undo() -> None:
    """Do what was asked for in case of a forced end."""
    for number, undone in sorted(_undoing.items(), reverse=True):
        # Nobody is left to be told, and the next run sweeps what stays.
        with suppress(Exception):
            undone()
        _undoing.pop(number, None)


def end_in_time(told: str, code: int) -> None:
    """From now on the program ends within a few seconds of one signal: with these words and this code if by force.

    For the main thread alone, and before anything waits.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    # Thread.start waits on a threading.Event, which a Ctrl-C can leave locked for good.
    _thread.start_new_thread(_watch, (reading, told, code))


def _watch(reading: int, told: str, code: int) -> None:
    # The main thread is woken by its own signals only.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while not set(ENDING) & set(os.read(reading, 64)):
        pass
    time.sleep(PATIENCE)
    undo()
    writable = poll()
    writable.register(2, POLLOUT)
    # Not through sys.stderr, whose lock the main thread may hold; and not at all where nobody reads any more.
    if any(event & POLLOUT for _, event in writable.poll(0)):
        with suppress(OSError):
            os.write(2, f"{told}\n".encode())
    os._exit(code)
