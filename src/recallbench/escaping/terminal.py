"""Text for a terminal: nothing in it moves the cursor, changes colours, hides or reverses text, or starts a line."""

from __future__ import annotations

import re
from unicodedata import category

_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
"""Letters and marks that are invisible."""
_SUSPECT = re.compile(r"[^ -~]")


def hidden(text: str) -> bool:
    """Return whether a text has invisible characters: control, bidirectional or zero-width ones, or line breaks."""
    return not (text.isascii() and text.isprintable()) and any(map(_is_hidden, text))


def visible(text: str) -> str:
    """Return the text on one line, each invisible character spelled out (`\\x1b`, `\\n`, `\\u202e`)."""
    return _SUSPECT.sub(_spelled_out, text) if hidden(text) else text


def visible_lines(text: str) -> str:
    """Return a text of several lines with each line made visible."""
    return "\n".join(map(visible, text.split("\n")))


def shortened(text: str, most: int = 60) -> str:
    """Return a text on one line, cut where it has more characters than that."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _is_hidden(character: str) -> bool:
    # A blank of another width (as Japanese has) is text.
    return character in _BLANK or not (character.isprintable() or category(character) == "Zs")


def _spelled_out(match: re.Match[str]) -> str:
    character = match[0]
    return character.encode("unicode_escape").decode("ascii") if _is_hidden(character) else character
