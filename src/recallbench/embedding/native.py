"""Imports that a signal must not break into."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from recallbench.interruption import ENDING


@contextmanager
def unbroken() -> Iterator[None]:
    """In this block a signal that would end the program waits until its end.

    Importing torch runs Python from C++: what a signal raises there ends the process on the spot, and nothing is
    cleaned up behind it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        came.append(number)

    before = {number: signal.signal(number, note) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
    if came:
        signal.raise_signal(came[0])
