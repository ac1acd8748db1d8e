"""One signal ends the program: in good order where that can be done in time, else at once.

Python hands a signal to the main thread, and only when that comes back from what it waits for: a library that waits for
a server which was stopped never does, and cleaning up asks that very server again. So a thread of its own hears of the
signal too, and ends the program. But no thread runs while code that is not Python's keeps the interpreter to itself:
the last word has a guard, a process that hears of the signal first.
"""

from __future__ import annotations

import _thread
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from select import POLLIN, POLLOUT, poll

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 6.0
"""Seconds that the program has to end in good order: short enough for those who wait ten before they kill."""
GRACE = 1.5
"""Seconds that it then has to end at once, before the guard ends it."""
LAST = 0.3
"""Seconds that the system has to end it by a signal that tells more than SIGKILL does."""

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


def end_in_time(told: str, code: int, afterwards: Callable[[], object]) -> None:
    """From now on the program ends within a few seconds of one signal: with these words and this code if by force.

    Where not even that can be done, it is ended from outside, by the same signal where the system can tell it so, and
    another process calls `afterwards`. For the main thread alone, before anything waits and behind all handlers.
    """
    inside, outside = socket.socketpair()
    inside.setblocking(False)
    # Blocked for the guard for good: none may come to it in between.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    program = os.getpid()
    try:
        guard = os.fork()
    except OSError:
        guard = -1  # no room for another process: then the thread hears for itself
    if guard == 0:
        try:
            inside.close()
            _guard(program, outside, told, afterwards)
        finally:
            os._exit(0)
    if guard > 0:
        outside.close()
        _end_when_repeated(ENDING)
    signal.set_wakeup_fd(inside.fileno(), warn_on_full_buffer=False)
    # Thread.start waits on a threading.Event, which a Ctrl-C can leave locked for good.
    _thread.start_new_thread(_watch, (inside, outside, told, code))
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _watch(inside: socket.socket, outside: socket.socket, told: str, code: int) -> None:
    # The main thread is woken by its own signals only.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    if _ending_signal(outside if outside.fileno() >= 0 else inside) is None:
        return
    time.sleep(PATIENCE)
    undo()
    _tell(told)
    os._exit(code)


def _guard(program: int, outside: socket.socket, told: str, afterwards: Callable[[], object]) -> None:
    """Pass on the signal that ends the program, and see to it that it does; come back when it has ended."""
    order = _ending_signal(outside)
    if order is None:
        return
    outside.send(bytes([order]))
    if _ended(outside, PATIENCE + GRACE):
        return
    _tell(told)
    for last, seconds in ((order, LAST), (signal.SIGKILL, PATIENCE)):
        # A child of its own: the number is nobody else's.
        if os.getppid() == program:
            os.kill(program, last)
        if _ended(outside, seconds):
            break
    afterwards()


def _ending_signal(end: socket.socket) -> signal.Signals | None:
    """The first signal of those that end the program, as soon as it comes; None where nobody is left to tell of one."""
    while True:
        with suppress(OSError):
            _readable(end, None)
            heard = end.recv(64)
            if not heard:
                return None
            if order := next((one for one in ENDING if one in heard), None):
                return order


def _ended(outside: socket.socket, seconds: float) -> bool:
    """Whether the program, which alone has the other end, is gone before that time is over."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if _readable(outside, left):
            try:
                if not outside.recv(64):
                    return True
            except ConnectionResetError:  # it had not read everything
                return True
    return False


def _readable(end: socket.socket, seconds: float | None) -> bool:
    waiting = poll()
    waiting.register(end, POLLIN)
    return bool(waiting.poll(None if seconds is None else seconds * 1000))


def _tell(told: str) -> None:
    writable = poll()
    writable.register(2, POLLOUT)
    # Not through sys.stderr, whose lock the main thread may hold; and not at all where nobody reads any more.
    if any(event & POLLOUT for _, event in writable.poll(0)):
        with suppress(OSError):
            os.write(2, f"{told}\n".encode())


def _end_when_repeated(numbers: Iterable[signal.Signals]) -> None:
    """Have the second signal of a kind end the program by itself, unless Python's own handler was run by the first.

    That handler arms itself again. What can't be had so on this system is left as it is.
    """
    import ctypes

    library = ctypes.CDLL(None)
    with suppress(AttributeError):
        for function in (library.signal, library.sysv_signal):
            function.argtypes, function.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p
        for number in numbers:
            if callable(signal.getsignal(number)):
                library.sysv_signal(number, library.signal(number, None))


@contextmanager
def postpone_signals() -> Iterator[None]:
    """Let a signal that would end the program wait until the end of the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {number: signal.signal(number, lambda number, _frame: came.append(number)) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
    if came:
        signal.raise_signal(came[0])
