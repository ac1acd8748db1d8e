"""What a user types: single keys on a terminal, lines where keys come from a file or a pipe."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from recallbench.interruption import on_forced_end

END, ESCAPE = "\x04", "\x1b"
QUIET_SECONDS = 0.02
"""How long after an escape its sequence may take to come."""


class Keyboard:
    """Keys and lines from standard input, with prompts on the given stream."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._modes: list[Any] | None = None
        """The modes of the terminal as they were; None where there is no terminal."""

    @contextmanager
    def opened(self) -> Iterator[Keyboard]:
        """Yield the keyboard, and leave the terminal as it was, also where the program is ended by force."""
        if not sys.stdin.isatty() or (modes := _modes()) is None:
            yield self
            return
        self._modes = modes
        forget = on_forced_end(self._restore)
        before = signal.signal(signal.SIGQUIT, self._quit)
        try:
            yield self
        finally:
            self._restore()
            signal.signal(signal.SIGQUIT, before)
            forget()

    def key(self, prompt: str) -> str | None:
        """Return the key that is pressed, in lower case, or the first of a line; None at the end of the input.

        A key that is no character, as an arrow, is returned as an escape.
        """
        if self._modes is None:
            self._say(prompt)
            line = sys.stdin.readline()
            return line.strip().lower()[:1] if line else None
        _take_single_keys()
        self._say(prompt)
        key = _pressed()
        shown = key if key is not None and key.isprintable() else ""
        self._say(f"{shown}\n")
        return None if key in (None, END) else key.lower() if key else key

    def line(self, prompt: str) -> str:
        """Return a line of text, which can be edited while it is typed; empty at the end of the input."""
        self._say(prompt)
        self._restore()
        return sys.stdin.readline().strip()

    def _restore(self) -> None:
        if self._modes is not None:
            import termios

            # Not when all is written: output that was stopped, as by Ctrl-S, never is.
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, self._modes)

    def _quit(self, number: int, _frame: FrameType | None) -> None:
        """End as this signal, of Ctrl-\\, ends a program, but with the terminal as it was."""
        self._restore()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    def _say(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _take_single_keys() -> None:
    """Let keys come without Enter; each time anew, since a shell that wakes the program sets modes of its own."""
    import termios
    import tty

    tty.setcbreak(sys.stdin.fileno(), termios.TCSANOW)


def _pressed() -> str | None:
    """Return the next character; an escape for what is none, as an arrow."""
    number = sys.stdin.fileno()
    raw = os.read(number, 1)
    if raw == ESCAPE.encode():
        while select.select([number], [], [], QUIET_SECONDS)[0] and os.read(number, 1):
            pass
        return ESCAPE
    while raw and (following := _following(raw[0])) >= len(raw):
        raw += os.read(number, following - len(raw) + 1)
    return raw.decode(errors="replace") if raw else None


def _modes() -> list[Any] | None:
    try:
        import termios

        return list(termios.tcgetattr(sys.stdin.fileno()))
    except (ImportError, OSError):
        return None


def _following(first: int) -> int:
    """Return how many bytes follow the first one of a character in UTF-8."""
    return 3 if first >= 0xF0 else 2 if first >= 0xE0 else 1 if first >= 0xC0 else 0
