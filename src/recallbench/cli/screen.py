"""The screen between this program and a terminal or log: no secret and no invisible character passes."""

from __future__ import annotations

import re
import sys
from typing import TextIO

from recallbench.confidential import concealed
from recallbench.escaping.terminal import hidden, visible

_WITHIN_LINES = re.compile(r"[^\n\t]+")


class Screen:
    """A stream without secrets that spells out invisible characters; line breaks and tabs are the program's own."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(_shown(text))
        return len(text)

    def write_coloured(self, text: str, colour: str) -> None:
        """Write a text in a colour of the terminal, by its number; the text itself can't hold any such code."""
        self.stream.write(f"\x1b[{colour}m{_shown(text)}\x1b[0m")

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)


def _shown(text: str) -> str:
    shown = concealed(text)
    return _WITHIN_LINES.sub(lambda part: visible(part[0]), shown) if hidden(shown) else shown


def screen_output() -> None:
    """Let everything printed from now on pass through a screen."""
    sys.stdout, sys.stderr = (
        stream if isinstance(stream, Screen) else Screen(stream) for stream in (sys.stdout, sys.stderr)
    )


def underlying_stream(stream: TextIO) -> TextIO:
    """Return the stream itself, for a library that draws with control characters."""
    return stream.stream if isinstance(stream, Screen) else stream
