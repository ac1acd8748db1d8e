"""Files that nobody but their owner may read: keys."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from recallbench.errors import InputError
from recallbench.scratch import scratch

MODE = 0o600
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""What a file system says that knows no second name of a file."""


def refuse_shared(path: Path, what: str, remedy: str, opened: int | None = None) -> None:
    """Raise InputError where others than its owner may read or write the file; `what` is what the message calls it.

    `opened` is its descriptor, where it was opened before: another file may take its place meanwhile.
    """
    rights = (path.stat() if opened is None else os.fstat(opened)).st_mode & 0o777
    if rights & 0o077:
        raise InputError(
            f"{path}: others than its owner may use this {what}",
            expected=f"mode {MODE:04o}",
            found=f"mode {rights:04o}",
            remedy=f"chmod 600 {path}; {remedy}",
        )


def create(path: Path, content: bytes, mode: int = MODE) -> None:
    """Write a new file that never has wider rights than these, not for a moment, and is whole or absent, whenever this
    process is killed; one that is there stays as it is (FileExistsError)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with scratch(path.parent) as room:
        draft = room / path.name
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            # Not at once, but it is all that such a file system has: the name is taken first, then the file put there.
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
            os.replace(draft, path)
