"""How a command line is read: typer's way, but an option never takes the next option for its value."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

from recallbench.errors import UsageError


class Program(typer.Typer):
    """A program whose commands refuse an option without its value."""

    def command(self, name: str | None = None, **more: Any) -> Any:
        return super().command(name, cls=_Command, **more)


class _Command(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        taking = [one for one in self.params if one.param_type_name == "option" and not getattr(one, "is_flag", False)]
        _refuse_options_as_values(args, {name for one in taking for name in one.opts})
        rest = super().parse_args(ctx, args)
        for one in taking:
            _refuse_option_as_value(one.opts[0], ctx.params.get(str(one.name)))
        return rest


def _refuse_options_as_values(arguments: Sequence[str], taking: set[str]) -> None:
    """Raise UsageError where an option that takes a value is followed by what begins as an option does."""
    for argument, following in pairwise([*arguments, ""]):
        if argument == "--":
            return
        name, attached, value = argument.partition("=")
        value = value if attached else following
        if name in taking:
            _refuse_option_as_value(name, value)


def _refuse_option_as_value(name: str, value: Any) -> None:
    """The same of one option, wherever its value is from: variables and settings files give some too."""
    for one in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(one, (str, Path)) and str(one).startswith("--"):
            raise UsageError(
                f"{name} has no value",
                expected=f"a value of {name}",
                found=f"{one}, which is written like an option",
                remedy=f"give {name} its value, or leave it out",
            )
