"""Text of files that nobody vouches for, made safe to print: no line of it can pass for one of the program's own."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text in one line, every control character written out (`\\x1b`, `\\n`)."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )
