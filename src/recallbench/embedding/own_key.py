"""The user's own key, under which vectors are kept: made at first use, outside any cache, for its owner alone."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
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

    Raises InputError for a key that others may read or that is another user's, and UsageError for one inside the cache:
    who shares the cache would have it.
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
        handle = _opened(path)
    except OSError as error:
        if not path.exists():
            return _passing(path, error)
        raise InputError(
            f"your own key can't be read: {path}",
            expected="a file that you may read",
            found=error.strerror or str(error),
            remedy="restore its owner and mode 0600, or remove it: a new one is made, and vectors kept under the old "
            "one are held against new ones before they are used",
        ) from error
    try:
        _refuse_others(path, handle)
        return _filled(handle, path), ""
    except OSError as error:
        return _passing(path, error)
    finally:
        os.close(handle)


def _opened(path: Path) -> int:
    # Whoever put a pipe there must not make the run wait for its other end.
    flags = os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(path, os.O_RDWR | flags, MODE)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        # A key that was made elsewhere may lie where nothing can be written.
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)


def _passing(path: Path, error: OSError) -> tuple[bytes, str]:
    note = (
        f"no key of your own can be kept at {path} ({error.strerror}): what this run embeds "
        "will count as somebody else's vectors"
    )
    return os.urandom(LENGTH), note


def _refuse_others(path: Path, handle: int) -> None:
    """Raise InputError where what was opened is no file of this user's alone."""
    state = os.fstat(handle)
    if not stat.S_ISREG(state.st_mode):
        raise _no_key(path, "a file", "a pipe, device or folder")
    if state.st_uid != os.geteuid():
        raise InputError(
            f"{path} is not your own key",
            expected=f"a file of the user {os.geteuid()}, who runs this",
            found=f"one of the user {state.st_uid}, who could make seals of yours with it",
            remedy="move the file away: a new key is made",
        )
    refuse_shared(path, "key", "if others could have read it, remove it: a new one is made", handle)


def _no_key(path: Path, expected: str, found: str) -> InputError:
    return InputError(
        f"{path} is not a key that RecallBench made",
        expected=expected,
        found=found,
        remedy="move the file away: a new key is made",
    )


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
        raise _no_key(path, f"{LENGTH} bytes", f"{os.fstat(handle).st_size} bytes")
    return kept
