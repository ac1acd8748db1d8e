"""For a terminal: nothing that moves the cursor, changes colours, hides, turns round or starts a line of its own."""

from __future__ import annotations

import re
from unicodedata import category

_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
"""Letters and marks that show nothing at all."""
_SUSPECT = re.compile(r"[^ -~]")


def hidden(text: str) -> bool:
    """Whether the text holds what can't be seen: control characters, line breaks, bidirectional or zero-width ones."""
    return not (text.isascii() and text.isprintable()) and any(map(_is_hidden, text))


def visible(text: str) -> str:
    """The text on one line, each character that can't be seen written out (`\\x1b`, `\\n`, `\\u202e`)."""
    return _SUSPECT.sub(_written_out, text) if hidden(text) else text


def visible_lines(text: str) -> str:
    """The same for a text of several lines, which stay."""
    return "\n".join(map(visible, text.split("\n")))


def _is_hidden(character: str) -> bool:
    # A blank of another width (as Japanese has) is text.
    return character in _BLANK or not (character.isprintable() or category(character) == "Zs")


def _written_out(found: re.Match[str]) -> str:
    character = found[0]
    return character.encode("unicode_escape").decode("ascii") if _is_hidden(character) else character
