"""Leftovers of killed downloads in the hub's cache: its library gives each a name of its own, and sweeps none."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_DRAFT = re.compile(r"(.+)\.[0-9a-f]{8}\.incomplete")
"""An unfinished file as the library names it: the final name, and eight digits of its own."""


def sweep_downloads(cache: Path, repo: str) -> list[Path]:
    """Remove the unfinished files of a repository that no living process is at work on, and return them.

    Whoever downloads holds the lock of the file's name meanwhile; a name without a lock is left alone.
    """
    swept = []
    for draft in (cache / repo / "blobs").glob("*.incomplete"):
        match = _DRAFT.fullmatch(draft.name)
        if match is None or draft.is_symlink():
            continue
        with _lock_if_free(cache / ".locks" / repo / f"{match[1]}.lock") as is_free:
            if is_free:
                # It may be another user's, in a cache that is shared.
                with suppress(OSError):
                    draft.unlink()
                    swept.append(draft)
    return swept


@contextmanager
def _lock_if_free(lock: Path) -> Iterator[bool]:
    """Whether the lock could be had, and is one that keeps others out: some file systems grant it to everybody."""
    files: list[int] = []
    try:
        with suppress(OSError):
            files += (os.open(lock, os.O_RDWR | os.O_NOFOLLOW) for _ in range(2))
        yield len(files) == 2 and _locks(files[0]) and not _locks(files[1])
    finally:
        for file in files:
            os.close(file)


def _locks(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
