"""The passwords in the file that the Postgres client reads by itself, so that they stay secret."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

LARGEST = 1 << 20
_LINE = re.compile(r"(?!#)(?:(?:[^:\\]|\\.)*+:){4}(.+)")
"""Host, port, database and user, with colons and backslashes escaped; the rest is the password."""


def passwords(named: str | None, environ: Mapping[str, str]) -> Iterator[str]:
    """The passwords of the file that the connection names, else of the one that the library takes then."""
    path = Path(named or environ.get("PGPASSFILE") or "~/.pgpass")
    try:
        with open(path.expanduser(), "rb", opener=_without_waiting) as file:
            lines = file.read(LARGEST).decode("utf-8", "replace").splitlines()
    except (OSError, RuntimeError):
        return  # the library will not read it either
    for line in lines:
        if field := _LINE.fullmatch(line):
            yield re.sub(r"\\(.)", r"\1", field[1])


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
