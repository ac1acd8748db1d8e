"""Files that nobody but their owner may read: keys."""

from __future__ import annotations

import os
from pathlib import Path

from recallbench.errors import InputError

MODE = 0o600


def refuse_shared(path: Path, what: str, remedy: str) -> None:
    """Raise InputError where others than its owner may read or write the file; `what` is what the message calls it."""
    rights = path.stat().st_mode & 0o777
    if rights & 0o077:
        raise InputError(
            f"{path}: others than its owner may use this {what}",
            expected=f"mode {MODE:04o}",
            found=f"mode {rights:04o}",
            remedy=f"chmod 600 {path}; {remedy}",
        )


def create(path: Path, content: bytes, mode: int = MODE) -> None:
    """Write a new file that never has wider rights than these, not for a moment; one that is there stays as it is
    (FileExistsError). A write that fails leaves nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
