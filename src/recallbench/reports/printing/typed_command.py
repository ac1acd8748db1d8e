"""A command as it was typed, and the next one that is made of it, fit to be pasted."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from recallbench.confidential import sanitised

FORM = ("--format", "--json", "--csv", "--markdown")
"""Options that only say how the output of a command is printed."""


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """The words of a command; secrets among them are masked where it is printed."""

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
        return cls(tuple(program), tuple(words))

    def again(self, *without: str, **options: str) -> str:
        """Return it without some options, in whatever form it was printed, and with these.

        `require_quiet=""` is a flag, others have a value.
        """
        put = {f"--{name.replace('_', '-')}": value for name, value in options.items()}
        kept = [group for group in self.words if _option(group)[0] not in {*FORM, *without, *put}]
        cut = next((number for number, group in enumerate(kept) if group[0] == "--"), len(kept))
        added = [(name, value) if value else (name,) for name, value in put.items()]
        words = (word for group in [self.program, *kept[:cut], *added, *kept[cut:]] for word in group)
        # A secret with a blank or quote in it would not be known for one once it is quoted.
        return shlex.join(map(sanitised, words))

    def named(self, command: str) -> TypedCommand:
        """Return another command of the same arguments and options."""
        return replace(self, program=("recallbench", command))

    def with_argument(self, option: str) -> TypedCommand:
        """Return it with the value of that option as an argument."""
        words = [(value,) if name == option else group for group in self.words for name, value in [_option(group)]]
        return replace(self, words=tuple(words))

    def with_values(self, option: str, values: Collection[str]) -> TypedCommand:
        """Return it with none but these values of an option that may be repeated."""
        words = [_option(group) if _option(group)[0] == option else group for group in self.words]
        return replace(self, words=tuple(group for group in words if group[0] != option or group[1] in values))


def _option(group: Sequence[str]) -> tuple[str, str]:
    """Return the name and the value of an option, which may be one word."""
    name, _, attached = group[0].partition("=")
    return name, attached or "".join(group[1:])
