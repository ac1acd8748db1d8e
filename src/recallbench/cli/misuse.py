"""click's errors about a command line, in the form of all other errors."""

from __future__ import annotations

import click
from click.core import ParameterSource

from recallbench.errors import UsageError

OF_EXTRA = "Got unexpected extra argument"
SEVERAL = "one corpus after the other; `canary` and `all` stand for several"
"""What helps where a second corpus was named."""


def usage_error(error: click.UsageError) -> UsageError:
    """Return the error: what is wrong, what was expected, where a value is from, and what helps."""
    path = error.ctx.command_path if error.ctx else "recallbench"
    # click writes choices in lines of their own.
    problem = " ".join(error.format_message().split()).rstrip(".")
    remedy = f"`{path} --help` shows what can be given"
    if isinstance(error, click.NoSuchOption) and error.option_name == "--k" and _takes(error.ctx, "depth"):
        fixed = "figures are at 1, 5, 10 and more at once; --depth is how many hits a ranking keeps"
        return UsageError(problem, remedy=f"leave it out: {fixed}")
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Argument):
        name = _shown(error.param)
        told = f" ({name}: {error.param.help.rstrip('.')})" if error.param.help else ""
        return UsageError(f"{name} is missing", expected=f"{_usage(error.ctx)}{told}", remedy=remedy)
    if isinstance(error, click.BadParameter) and error.ctx is not None and error.param is not None:
        of_argument = isinstance(error.param, click.Argument)
        return UsageError(
            problem,
            expected=_usage(error.ctx) if of_argument else "",
            found=_source(error.ctx, error.param),
            remedy=remedy,
        )
    if problem.startswith(OF_EXTRA) and error.ctx is not None:
        words = problem.partition("(")[2].rstrip(")")
        one = " " not in words
        return UsageError(
            f"{words} {'is one argument' if one else 'are arguments'} too many",
            expected=_usage(error.ctx),
            remedy=SEVERAL if _takes(error.ctx, "corpus") and _takes(error.ctx, "store") else remedy,
        )
    return UsageError(problem, remedy=remedy)


def _shown(param: click.Argument) -> str:
    """Return the name of an argument as the help has it, without what says that there may be several."""
    if isinstance(param.type, click.Choice):
        return " or ".join(param.type.choices)
    return (param.metavar or str(param.name).upper()).removesuffix("...").strip("[]")


def _usage(context: click.Context | None) -> str:
    """Return how the command is written."""
    if context is None:
        return ""
    pieces = [piece for piece in context.command.collect_usage_pieces(context) if piece != "[OPTIONS]"]
    return " ".join([context.command_path, *pieces])


def _source(context: click.Context, param: click.Parameter) -> str:
    """Return where a value was given, unless it was typed."""
    source = context.get_parameter_source(str(param.name))
    if source is ParameterSource.ENVIRONMENT:
        return f"what the variable {' or '.join(_variables(param))} says"
    return "what the settings file says" if source is ParameterSource.DEFAULT_MAP else ""


def _variables(param: click.Parameter) -> list[str]:
    return [param.envvar] if isinstance(param.envvar, str) else list(param.envvar or ())


def _takes(context: click.Context | None, name: str) -> bool:
    return context is not None and any(param.name == name for param in context.command.params)
