"""A server that offers several versions of the stand-in extension, one of which can't be installed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg

from recallbench.stores.postgres.embedded import EmbeddedServer
from stores.standin import BASE, VARIANTS, with_standin

BROKEN = "1.5"
GRUDGING = "1.6"
"""Takes a minute to install."""


@contextmanager
def versioned_server(password: str | None = None, offered: Sequence[str] = ()) -> Iterator[EmbeddedServer]:
    """The server; it offers these versions too, each of which does what `1.0` does."""
    with tempfile.TemporaryDirectory(prefix="recallbench-versions-") as folder:
        Path(folder).chmod(0o755)  # the server may run as another user
        install = with_standin(Path(folder))
        extra = dict.fromkeys(offered, BASE + VARIANTS["1.0"]) | {
            BROKEN: "SELECT no_such_thing();",
            GRUDGING: BASE + VARIANTS["1.0"] + "SELECT pg_sleep(60);",
        }
        for version, sql in extra.items():
            written = install.share / "extension" / f"pgmnemo--{version}.sql"
            written.write_text(sql)
            written.chmod(0o644)
        with EmbeddedServer(install=install, password=password) as server:
            yield server


def databases(dsn: str) -> set[str]:
    """The databases beside those that every server has."""
    with psycopg.connect(dsn) as connection:
        rows = connection.execute("SELECT datname FROM pg_database").fetchall()
    return {name for (name,) in rows} - {"postgres", "template0", "template1"}
