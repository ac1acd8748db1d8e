"""Commands of this program for a shell, fit to be pasted."""

from __future__ import annotations

import shlex


def command(*words: object) -> str:
    """Return the command with these words behind the program's name, each quoted where a shell needs it."""
    return shlex.join(["recallbench", *map(str, words)])
