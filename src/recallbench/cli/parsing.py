"""How a command line is read: typer's way, but an option never takes the next option for its value."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
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
        taking = {
            name
            for parameter in self.params
            if parameter.param_type_name == "option" and not getattr(parameter, "is_flag", False)
            for name in parameter.opts
        }
        _refuse_options_as_values(args, taking)
        return super().parse_args(ctx, args)


def _refuse_options_as_values(arguments: Sequence[str], taking: set[str]) -> None:
    """Raise UsageError where an option that takes a value is followed by what begins as an option does."""
    for argument, following in pairwise([*arguments, ""]):
        if argument == "--":
            return
        name, attached, value = argument.partition("=")
        value = value if attached else following
        if name in taking and value.startswith("--"):
            raise UsageError(
                f"{name} has no value",
                expected=f"a value behind {name}",
                found=f"{value}, which is written like an option",
                remedy=f"give {name} its value, or leave it out",
            )
