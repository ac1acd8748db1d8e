"""`recallbench gate` as it is typed with a settings file: what errors and last lines say to do next."""

from __future__ import annotations

from recallbench.escaping.shell import command

USUAL = "recallbench.toml"
"""The file that is read where none is named."""


def gate_command(config: str, *options: str) -> str:
    """Return the command with these options, of a file as it was named."""
    named = [] if config == USUAL else ["--config", config]
    return command("gate", *named, *options)
