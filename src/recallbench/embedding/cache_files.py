"""The files of a vector cache: opened without following links, read and written at a place."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from recallbench.errors import InputError


def open_cache_file(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> int:
    """Open a file of the cache. Another user of it may have put a link or a pipe there."""
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _not_a_file(path, "a link") from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _not_a_file(path, "a pipe, device or folder")
    return descriptor


def read_at(descriptor: int, start: int, size: int) -> bytes:
    """Read so many bytes, or as many as there are."""
    parts = []
    while size > 0 and (part := os.pread(descriptor, size, start)):
        parts.append(part)
        start, size = start + len(part), size - len(part)
    return b"".join(parts)


def write_at(descriptor: int, body: bytes, start: int) -> None:
    """Write all of these bytes."""
    view = memoryview(body)
    while view:
        written = os.pwrite(descriptor, view, start)
        view, start = view[written:], start + written


def _not_a_file(path: Path, found: str) -> InputError:
    return InputError(
        f"the vector cache is not as RecallBench makes it: {path}",
        expected="a file",
        found=found,
        remedy=f"find out who put it there; delete {path.parent}, which is only a cache, or name another one with "
        "--cache-dir",
    )
