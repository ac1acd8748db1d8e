"""The file of --config: a TOML table whose keys are long option names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from recallbench.cli.command import FORMER
from recallbench.errors import InputError
from recallbench.nearest_name import nearest_name


def read_settings(context: click.Context, _option: click.Parameter, path: Path | None) -> None:
    """Make the values of the file the defaults of the command's options.

    Raises InputError for a file that can't be read, and for a key that is an option of no command.
    """
    if path is not None:
        take_settings(context, path, _table(path), over=True)


def take_settings(context: click.Context, path: Path, table: dict[str, Any], *, over: bool = False) -> None:
    """Make these values of a file defaults of the command's options, `over` those that another file gave or not.

    Raises InputError for a key that is an option of no command.
    """
    known = _keys(context.command)
    # One file may serve several commands: what another one takes is passed over here.
    every = known if table.keys() <= known.keys() else {**_keys_of_others(context), **known}
    if strange := sorted(key for key, value in table.items() if key not in every or not _fits(every[key], value)):
        near = nearest_name(strange[0], known) if strange[0] not in every else ""
        raise InputError(
            f"{path}: unknown setting {strange[0]!r}",
            expected="the long name of an option" if near else f"one of {', '.join(sorted(known))}",
            found=strange[0],
            remedy=f"you may mean {near}; `{context.command_path} --help` names all"
            if near
            else "mend the file; the keys are the long option names",
        )
    values = {str(known[key].name): option_words(known[key], table[key]) for key in known if key in table}
    before = context.default_map or {}
    context.default_map = {**before, **values} if over else {**values, **before}


def _table(path: Path) -> dict[str, Any]:
    from recallbench.reading import document, toml

    try:
        return toml(document(path).decode("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} can't be read as a settings file",
            expected='TOML with option names as keys, such as store = "exact"',
            found=str(error),
            remedy="mend the file or leave --config out",
        ) from error


def _keys(command: click.Command) -> dict[str, click.Parameter]:
    """Return the long option names of a command."""
    return {
        name[2:]: param
        for param in command.params
        for name in param.opts
        if name.startswith("--") and not str(param.name).startswith(FORMER)
    }


def _keys_of_others(context: click.Context) -> dict[str, click.Parameter]:
    return {
        key: param
        for command in _commands(context.find_root().command, context)
        for key, param in _keys(command).items()
    }


def _commands(command: click.Command, context: click.Context) -> Iterator[click.Command]:
    """Yield a command, or all those of a group and of the groups in it."""
    if isinstance(command, click.Group):
        for inner in (command.get_command(context, name) for name in command.list_commands(context)):
            if inner is not None:
                yield from _commands(inner, context)
    else:
        yield command


def _fits(option: click.Parameter, value: Any) -> bool:
    """Return whether a value can be an option's; a section that is called like a command is none."""
    return option.multiple or not isinstance(value, dict)


def option_words(option: click.Parameter, value: Any) -> str | list[str]:
    """Return the value as it would stand on the command line, so that it is read and refused alike."""
    if not option.multiple:
        return str(value)
    if isinstance(value, dict):
        return [f"{name}={_assigned(item)}" for name, item in value.items()]
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def _assigned(value: Any) -> str:
    """Return a value as it is typed behind NAME=; a text that would pass for a number there keeps its quotes."""
    from recallbench.stores.outside.parameters import value_of

    plain = isinstance(value, str) and value_of(value) == value
    return str(value) if plain else json.dumps(value, default=str)
