"""The command that was typed, as words that can be typed anew: what a last line says to do next."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence

from recallbench.confidential import sanitised


def command_again(name: str, changed: Mapping[str, Callable[[str], Sequence[str]]]) -> str:
    """Return the typed words as the command of that name, quoted for a shell; in whatever form it is printed.

    Each option of `changed` gives way to the words that its value gives there.
    """
    changed = {"--format": lambda _: [], **changed}
    again, words = ["recallbench", name], iter(sys.argv[2:])
    for word in words:
        if word == "--json":
            continue
        option, attached, value = word.partition("=")
        new = changed[option](value if attached else next(words, "")) if option in changed else [word]
        # A secret with a blank or quote in it would not be known for one once it is quoted.
        again += map(sanitised, new)
    return shlex.join(again)
