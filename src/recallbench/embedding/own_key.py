"""The user's own key, under which vectors are kept: made at first use, outside any cache, for its owner alone."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from recallbench.errors import InputError, UsageError
from recallbench.private_file import MODE, refuse_shared

LENGTH = 32


def place() -> Path:
    """Where it lies."""
    # Only a process that embeds asks for it: the import waits until then.
    import platformdirs

    return Path(platformdirs.user_config_dir("recallbench", appauthor=False)) / "vectors.key"


def own_key(cache_dir: Path) -> tuple[bytes, str]:
    """The key, made where there is none, and a note where none can be kept: then it holds for this process alone.

    Raises InputError for a key that others may read, and UsageError for one inside the cache: who shares the cache
    would have it.
    """
    path = place()
    if cache_dir.resolve() in path.resolve().parents:
        raise UsageError(
            f"the vector cache {cache_dir} would hold your own key as well: {path}",
            expected="a folder for vectors that does not hold the user's settings",
            found=str(cache_dir),
            remedy="name another folder with --cache-dir",
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, MODE)
    except OSError as error:
        if not path.exists():
            note = (
                f"no key of your own can be kept at {path} ({error.strerror}): what this run embeds "
                "will count as somebody else's vectors"
            )
            return os.urandom(LENGTH), note
        raise InputError(
            f"your own key can't be read: {path}",
            expected="a file that you may read and write",
            found=error.strerror or str(error),
            remedy="restore its owner and mode 0600, or remove it: a new one is made, and vectors kept under the old "
            "one are held against new ones before they are used",
        ) from error
    try:
        refuse_shared(path, "key", "if others could have read it, remove it: a new one is made")
        return _filled(handle, path), ""
    finally:
        os.close(handle)


def _filled(handle: int, path: Path) -> bytes:
    # Two processes may be the first at once, and one may have been killed before it wrote: whoever has the lock fills
    # what is not whole, and a whole key is never written over.
    fcntl.flock(handle, fcntl.LOCK_EX)
    kept = os.pread(handle, LENGTH + 1, 0)
    if len(kept) < LENGTH:
        kept = os.urandom(LENGTH)
        os.pwrite(handle, kept, 0)
        os.fsync(handle)
    elif len(kept) > LENGTH:
        raise InputError(
            f"{path} is not a key that RecallBench made",
            expected=f"{LENGTH} bytes",
            found=f"{os.fstat(handle).st_size} bytes",
            remedy="move the file away: a new key is made",
        )
    return kept
