"""Signals and time limits: one signal ends the program, and a call that takes too long is interrupted.

A signal ends the program in good order where that can be done in time, else at once. Python hands a signal to the main
thread, and only when that comes back from what it waits for: a library that waits for a server which was stopped never
does, and cleaning up asks that very server again. So a thread of its own hears of the signal too, and ends the program.
But no thread runs while code that is not Python's keeps the interpreter to itself: then a guard ends the program, a
process of its own that hears of the signal first.
"""

from __future__ import annotations

import _thread
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from select import POLLIN, POLLOUT, poll
from types import FrameType
from typing import NoReturn

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 6.0
"""Seconds that the program has to end in good order: short enough for those who wait ten before they kill."""
GRACE = 1.5
"""Seconds that it then has to end at once, before the guard ends it."""
LAST = 0.3
"""Seconds that the guard gives the program to end by the signal that it was sent, before it sends SIGKILL."""
RETRY = 0.5
"""Seconds after which an interruption that got lost is made again: time enough to clean up, should it not be lost."""

_cleanups: dict[int, Callable[[], None]] = {}
_guarded: list[signal.Signals] = []
"""The signals of which a second one ends the program by itself, once there is a guard to send it."""
_numbers = count()


class TimeLimitExceeded(BaseException):
    """A call took too long; no Exception, so that the code it interrupts does not take it for one of its own."""


class InterruptedWithResult(KeyboardInterrupt):
    """An interruption of work that wrote what was done by then; its text says what, and where."""


def raise_on_signals() -> None:
    """From now on each signal that ends the program raises KeyboardInterrupt, so that servers are stopped.

    A cancelled CI job and `timeout` send SIGTERM: it takes the way of Ctrl-C. A signal that is ignored stays so.
    """

    def interrupt(number: int, _frame: FrameType | None) -> NoReturn:
        # Armed again: until here, another of its kind would have ended the program at once (`_end_when_repeated`).
        signal.signal(number, interrupt)
        raise KeyboardInterrupt(signal.Signals(number).name)

    def raise_again(lost: sys.UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, RETRY)
        else:
            sys.__unraisablehook__(lost)

    for number in ENDING:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, interrupt)
    # Python drops what is raised while it runs a finaliser, and an import has many: then it is raised once more.
    signal.signal(signal.SIGALRM, interrupt)
    sys.unraisablehook = raise_again


def forget_interrupted_exec() -> None:
    """Let the program end with its own exit code, also after an interruption inside of exec (a dataclass, an import).

    CPython remembers that exec was interrupted, and would end the process as if killed, until exec runs again.
    """
    exec("")


@contextmanager
def postpone_signals() -> Iterator[None]:
    """Let a signal that would end the program wait until the end of the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        received.append(number)

    before = {number: signal.signal(number, note) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        if _guarded:
            _end_when_repeated(_guarded)
    if received:
        signal.raise_signal(received[0])


class CallTimer:
    """Raises TimeLimitExceeded in a call that takes too long.

    Its caller notes when a call starts and ends; the system's timer is set only when it rings, which costs calls
    nothing.
    """

    __slots__ = ("over", "seconds", "started")

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.started: float | None = None
        """The start of the call that is under way; None between calls."""
        self.over = False
        """No call will begin any more: an alarm that rings late must not set itself again."""

    def ring(self, _number: int, _frame: FrameType | None) -> None:
        """Raise in a call that takes too long, else ring again when it would."""
        if self.over:
            return
        seconds = self.seconds or 0.0
        passed = 0.0 if self.started is None else time.monotonic() - self.started
        if passed >= seconds:
            self.started = None
            signal.setitimer(signal.ITIMER_REAL, seconds)
            raise TimeLimitExceeded
        signal.setitimer(signal.ITIMER_REAL, max(0.001, seconds - passed))


def can_interrupt() -> bool:
    """Whether calls of this thread can be interrupted: those of the main one can, where the system knows alarms."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextmanager
def call_timer(seconds: float | None) -> Iterator[CallTimer]:
    """A timer for the calls of this block; an alarm that was set before goes on behind it."""
    timer = CallTimer(seconds)
    if seconds is None:
        yield timer
        return
    started = time.monotonic()
    before = signal.signal(signal.SIGALRM, timer.ring)
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield timer
    finally:
        timer.over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if remaining and before not in (signal.SIG_DFL, None):  # an alarm without a handler would end the process
            signal.setitimer(signal.ITIMER_REAL, max(0.001, remaining - (time.monotonic() - started)), interval)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimitExceeded in this block when it takes longer, or behind it where its code swallowed that.

    In other threads than the main one nothing can be interrupted: there it is raised behind the block alone.
    """
    started = time.monotonic()
    with call_timer(seconds if can_interrupt() else None) as timer:
        timer.started = started
        try:
            yield
        finally:
            timer.started = None
        if time.monotonic() - started > seconds:
            raise TimeLimitExceeded


def on_forced_end(cleanup: Callable[[], None]) -> Callable[[], None]:
    """Run `cleanup` should the program have to end at once, the latest first; returns a function that cancels this."""
    number = next(_numbers)
    _cleanups[number] = cleanup

    def forget() -> None:
        _cleanups.pop(number, None)

    return forget


def _clean_up() -> None:
    for number, cleanup in sorted(_cleanups.items(), reverse=True):
        # Nobody is left who could read of a failure, and the next run sweeps what stays.
        with suppress(Exception):
            cleanup()
        _cleanups.pop(number, None)


def end_in_time(message: str, code: int, afterwards: Callable[[], object]) -> None:
    """From now on the program ends within a few seconds of one signal: with this message and code if by force.

    Where not even that can be done, the guard ends it, by the same signal where the system allows that, and then calls
    `afterwards`. To be called by the main thread, before anything waits and after all handlers are set.
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
            _guard(program, outside, message, afterwards)
        finally:
            os._exit(0)
    if guard > 0:
        outside.close()
        _guarded.extend(ENDING)
        _end_when_repeated(_guarded)
    signal.set_wakeup_fd(inside.fileno(), warn_on_full_buffer=False)
    # Thread.start waits on a threading.Event, which a Ctrl-C can leave locked for good.
    _thread.start_new_thread(_watch, (inside, outside, message, code))
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _watch(inside: socket.socket, outside: socket.socket, message: str, code: int) -> None:
    # The main thread is woken by its own signals only.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    if _ending_signal(outside if outside.fileno() >= 0 else inside) is None:
        return
    time.sleep(PATIENCE)
    _clean_up()
    _print(message)
    os._exit(code)


def _guard(program: int, outside: socket.socket, message: str, afterwards: Callable[[], object]) -> None:
    """Pass on the signal that ends the program, and see to it that it does; come back when it has ended."""
    order = _ending_signal(outside)
    if order is None:
        return
    outside.send(bytes([order]))
    if _ended(outside, PATIENCE + GRACE):
        return
    _print(message)
    for last, seconds in ((order, LAST), (signal.SIGKILL, PATIENCE)):
        # A child of its own: the number is nobody else's.
        if os.getppid() == program:
            os.kill(program, last)
        if _ended(outside, seconds):
            break
    afterwards()


def _ending_signal(end: socket.socket) -> signal.Signals | None:
    """Return the first signal that ends the program, as soon as it comes; None where none can come any more."""
    while True:
        with suppress(OSError):
            _readable(end, None)
            signals = end.recv(64)
            if not signals:
                return None
            if order := next((ending for ending in ENDING if ending in signals), None):
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


def _print(message: str) -> None:
    writable = poll()
    writable.register(2, POLLOUT)
    # Not through sys.stderr, whose lock the main thread may hold; and not at all where nobody reads any more.
    if any(event & POLLOUT for _, event in writable.poll(0)):
        with suppress(OSError):
            os.write(2, f"{message}\n".encode())


def _end_when_repeated(numbers: Iterable[signal.Signals]) -> None:
    """Have the second signal of a kind end the program by itself, unless Python's own handler was run by the first.

    The guard can then end a program that runs no line of Python with the signal it was sent, and not by SIGKILL. A
    system without these functions is left as it is.
    """
    import ctypes

    library = ctypes.CDLL(None)
    with suppress(AttributeError):
        for function in (library.signal, library.sysv_signal):
            function.argtypes, function.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p
        for number in numbers:
            if callable(signal.getsignal(number)):
                library.sysv_signal(number, library.signal(number, None))
