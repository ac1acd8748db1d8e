"""The option that names Postgres servers."""

from __future__ import annotations

from collections.abc import Sequence

import click

from recallbench.cli.command import Declaration, option


class ServerAddress(click.types.StringParamType):
    """An address, which may have blanks in it: a variable holds one, however many the option may name."""

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        return [rv]


def server_option(help: str) -> Declaration:
    """Declare --dsn; `help` says what is done there."""
    return option("dsn", help, type=ServerAddress(), multiple=True)


DSN = server_option(
    "The Postgres server to measure; repeat it, and haystacks are dealt out to several, each to one of them [default: "
    "$PGMNEMO_DSN, else an embedded one]."
)
