"""A command as it was typed, and the next one that is made of it, fit to be pasted."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from recallbench.confidential import sanitised


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """The words of a command, without secrets."""

    program: tuple[str, ...]
    """What starts it, as `recallbench grow`."""
    words: tuple[tuple[str, ...], ...]
    """Its arguments one by one, and each option with its value, as they were typed."""

    @classmethod
    def read(cls, program: Sequence[str], typed: Sequence[str], valued: Collection[str]) -> TypedCommand:
        """Return the command of these words; `valued` are the options that are followed by a value."""
        words: list[tuple[str, ...]] = []
        rest = iter(typed)
        for word in rest:
            if word == "--":
                words.append((word, *rest))
            elif word in valued and (value := next(rest, None)) is not None:
                words.append((word, value))
            else:
                words.append((word,))
        # A secret with a blank or quote in it would not be known for one once it is quoted.
        return cls(tuple(map(sanitised, program)), tuple(tuple(map(sanitised, group)) for group in words))

    def again(self, *without: str, **options: str) -> str:
        """Return it without some options, and with these: `require_quiet=""` is a flag, others have a value."""
        put = {f"--{name.replace('_', '-')}": value for name, value in options.items()}
        kept = [group for group in self.words if group[0].partition("=")[0] not in {*without, *put}]
        cut = next((number for number, group in enumerate(kept) if group[0] == "--"), len(kept))
        added = [(name, value) if value else (name,) for name, value in put.items()]
        return shlex.join([*self.program, *(word for group in [*kept[:cut], *added, *kept[cut:]] for word in group)])

    def named(self, command: str) -> TypedCommand:
        """Return another command of the same arguments and options."""
        return replace(self, program=("recallbench", command))
