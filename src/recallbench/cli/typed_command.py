"""The command that is being run, as its user typed it."""

from __future__ import annotations

import sys

import click

from recallbench.reports.printing.typed_command import TypedCommand


def typed_command() -> TypedCommand:
    """Return the words of the command that is being run; a corpus' runner.py names the command itself."""
    context = click.get_current_context()
    name, words = str(context.info_name), sys.argv[1:]
    options = [param for param in context.command.params if isinstance(param, click.Option) and not param.is_flag]
    valued = {spelling for option in options for spelling in option.opts}
    if words[:1] == [name]:
        return TypedCommand.read(("recallbench", name), words[1:], valued)
    return TypedCommand.read(("python", sys.argv[0]), words, valued)
