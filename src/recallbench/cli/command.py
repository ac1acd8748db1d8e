"""The declaration of a command, by click: the same variables, defaults and refusals for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from recallbench.cli.completing import completer_of
from recallbench.cli.option_groups import group_options
from recallbench.errors import UsageError

Declaration = Callable[[Callable[..., int]], Callable[..., int]]
"""An argument or an option, as click declares it on a function."""

PATH = click.Path(path_type=Path)
VARIABLES = "Each option is also a variable RECALLBENCH_<NAME>, such as RECALLBENCH_STORE."
ALIAS = "format_"
"""What the parameter of a flag begins with that is another spelling of a --format."""
OF_STORE = "of_store"
"""The attribute of options that stores declare."""
FORMER = "former_"
"""What the parameter of an option begins with that is the former name of another; the other one's name follows."""
WORDS = "`recallbench --help` explains the words, such as haystack and protocol."
EPILOG = f"{VARIABLES} With --config it is also a key of a TOML file. {WORDS}"


class Whole(click.IntRange):
    """A range of whole numbers, called so in errors."""

    name = "whole number"

    def _describe_range(self) -> str:
        return _in_words(self)


class Finite(click.FloatRange):
    """A range of numbers, to which `nan` does not belong: it is neither below nor above any bound."""

    name = "number"

    def _describe_range(self) -> str:
        return _in_words(self)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if math.isnan(number := float(super().convert(value, param, ctx))):
            self.fail(f"{value} is no number.", param, ctx)
        return number


def _in_words(bounds: click.IntRange | click.FloatRange) -> str:
    """Return a range that begins somewhere, as a sentence has it, for help and errors."""
    low = f"{'above' if bounds.min_open else 'from'} {bounds.min:,}"
    if bounds.max is None:
        return low if bounds.min_open else f"{low} on"
    return f"{low}, up to {bounds.max:,}" if bounds.min_open else f"{low} to {bounds.max:,}"


class Command(click.Command):
    """A command that refuses an option without its value, where click would take the next option for it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        valued = [param for param in self.params if isinstance(param, click.Option) and not param.is_flag]
        _refuse_options_as_values(args, {name for parameter in valued for name in parameter.opts})
        try:
            rest = super().parse_args(ctx, args)
        except click.BadOptionUsage as error:
            error.ctx = error.ctx or ctx
            if error.option_name not in {name for parameter in valued for name in parameter.opts}:
                raise
            raise _without_value(error.option_name, "nothing behind it") from None
        for parameter in valued:
            _refuse_option_as_value(parameter.opts[0], ctx.params.get(str(parameter.name)))
        _take_aliases(ctx)
        _take_former(ctx, self.params)
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, in groups where there are many."""
        records = {}
        for param in self.get_params(ctx):
            if not isinstance(param, click.Argument) and (record := param.get_help_record(ctx)) is not None:
                records[str(param.name)] = record
        flags = {str(param.name) for param in self.params if getattr(param, OF_STORE, False)}
        for title, names in group_options(records, flags).items():
            with formatter.section(title):
                formatter.write_dl([records[name] for name in names])


class Commands(click.Group):
    """Commands that are imported when they are called; a mistyped one is told its neighbours."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            # click itself looks among the commands that were imported, of which there is none.
            known = self.list_commands(ctx)
            raise click.exceptions.NoSuchCommand(error.command_name, possibilities=known, ctx=ctx) from error


def command(*declarations: Declaration, epilog: str = EPILOG) -> Callable[[Callable[..., int]], Command]:
    """Make a function a command with these arguments and options; its docstring becomes the help."""

    def declare(function: Callable[..., int]) -> Command:
        for declaration in reversed(declarations):
            function = declaration(function)
        return click.command(cls=Command, epilog=epilog, context_settings={"show_default": True})(function)

    return declare


def of_store(declaration: Declaration) -> Declaration:
    """Mark an option as one that a store declares, so that the help shows it beside the store."""

    def declare(function: Callable[..., int]) -> Callable[..., int]:
        declared = declaration(function)
        setattr(declared.__click_params__[-1], OF_STORE, True)  # type: ignore[attr-defined]
        return declared

    return declare


def argument(name: str, help: str, **more: Any) -> Declaration:
    """Declare a positional argument."""
    return click.argument(name, help=help, **_completed(name, more))


def option(name: str, help: str, *names: str, **more: Any) -> Declaration:
    """Declare a kebab-case option that also reads RECALLBENCH_<NAME>; `names` are other names of it."""
    yes, _, no = name.partition("/")
    long = [yes, *(other[2:] for other in names if other.startswith("--"))]
    variables = [f"RECALLBENCH_{word.upper().replace('-', '_')}" for word in long]
    spelled = f"--{yes}/{no}" if no else f"--{yes}"
    return click.option(spelled, *names, envvar=variables, help=help, **_completed(yes, more))


def _completed(name: str, more: dict[str, Any]) -> dict[str, Any]:
    """Return how a parameter is declared, with the names that a shell completes it by."""
    completer = completer_of(name)
    return more if completer is None else {"shell_complete": completer, **more}


def flag(name: str, help: str, *names: str, **more: Any) -> Declaration:
    """Declare an option that is given or not."""
    return option(name, help, *names, is_flag=True, **more)


def former(old: str, new: str, **more: Any) -> Declaration:
    """Declare the former name of an option: it works where it is typed, and no help, variable or file knows it."""
    help = f"The former name of --{new}."
    return click.option(f"--{old}", FORMER + new.replace("-", "_"), hidden=True, help=help, **more)


def choice(name: str, help: str, values: Sequence[str], **more: Any) -> Declaration:
    """Declare an option that takes one of a few words."""
    return option(name, help, type=click.Choice(values), **more)


def typed(*names: str) -> str | None:
    """Return the first of these options that stands on the command line, as --name.

    Variables and settings files may be meant for other commands, and count only in `given`.
    """
    context = click.get_current_context()
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            return f"--{name.replace('_', '-')}"
    return None


def is_given(*names: str) -> bool:
    """Whether a user gave one of these options a value: on the command line, as a variable or in the settings file."""
    context = click.get_current_context()
    sources = (context.get_parameter_source(name) for name in names)
    return any(
        source is not None and source.name in ("COMMANDLINE", "ENVIRONMENT", "DEFAULT_MAP") for source in sources
    )


def _take_aliases(context: click.Context) -> None:
    """Give `format` the value that a flag such as --json stands for; raises UsageError where both say another."""
    flags = [name for name in context.params if name.startswith(ALIAS)]
    if set_ := [name.removeprefix(ALIAS) for name in flags if context.params.pop(name)]:
        source = context.get_parameter_source("format")
        if source is not None and source.name == "COMMANDLINE":
            set_.append(context.params["format"])
        if len(set(set_)) > 1:
            raise UsageError("two forms of one output", expected="one of them", found=" and ".join(set_))
        context.params["format"] = set_[0]


def _take_former(context: click.Context, params: Sequence[click.Parameter]) -> None:
    """Give options the values that were typed by their former names; raises UsageError where both were."""
    for param in params:
        name = str(param.name)
        if not name.startswith(FORMER):
            continue
        value, new = context.params.pop(name, None), name.removeprefix(FORMER)
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        if context.get_parameter_source(new) is ParameterSource.COMMANDLINE:
            named = f"--{new.replace('_', '-')}"
            raise UsageError(
                f"{param.opts[0]} is the former name of {named}", expected=f"{named} alone", found="both of them"
            )
        context.params[new] = value
        context.set_parameter_source(new, ParameterSource.COMMANDLINE)


def _refuse_options_as_values(arguments: Sequence[str], valued: set[str]) -> None:
    """Raise UsageError where an option that takes a value is followed by another option."""
    for word, following in pairwise([*arguments, ""]):
        if word == "--":
            return
        name, attached, value = word.partition("=")
        if name in valued:
            _refuse_option_as_value(name, value if attached else following)


def _refuse_option_as_value(name: str, value: Any) -> None:
    """The same of one option, wherever its value is from: variables and settings files give some too."""
    for word in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(word, (str, Path)) and str(word).startswith("--"):
            raise _without_value(name, f"{word}, which is written like an option")


def _without_value(name: str, found: str) -> UsageError:
    return UsageError(
        f"{name} has no value",
        expected=f"a value of {name}",
        found=found,
        remedy=f"give {name} its value, or leave it out",
    )
