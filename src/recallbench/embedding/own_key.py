"""The user's own key, and the seals made with it: a cached vector with the right seal is the user's own.

The key is made at first use, outside any cache, for its owner alone.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path

from recallbench.errors import InputError, UsageError
from recallbench.whole_file import PRIVATE, refuse_shared, write_whole

KEY_LENGTH = 32
SEAL_LENGTH = 16


class Seal:
    """The keyed hash of a cached row: nobody without the key can make one for another vector."""

    def __init__(self, key: bytes, fingerprint_sha256: str) -> None:
        # The fingerprint goes into the key, so that no row can be carried over from another encoder's cache.
        self._key = hashlib.blake2b(fingerprint_sha256.encode(), key=key, person=b"vectors").digest()
        self.owner = hashlib.blake2b(key=key, person=b"owner", digest_size=8).hexdigest()
        """Tells users of one cache apart, and nothing of the key."""

    def of(self, head: bytes, vector: bytes) -> bytes:
        """Return the seal of a row: over the text's hash, its token count, its cut, and every byte of the vector."""
        return hashlib.blake2b(head + vector, key=self._key, digest_size=SEAL_LENGTH).digest()


def key_path() -> Path:
    """Return where the key lies."""
    # Only a process that embeds needs it: the import waits until then.
    import platformdirs

    return Path(platformdirs.user_config_dir("recallbench", appauthor=False)) / "vectors.key"


def own_key(cache_dir: Path) -> tuple[bytes, str]:
    """Return the key, made where there is none, and a note where none can be kept: then it holds for this process.

    Raises InputError for a key that others may read or that is another user's, and UsageError for one inside the cache:
    those who share the cache would have it.
    """
    path = key_path()
    if cache_dir.resolve() in path.resolve().parents:
        raise UsageError(
            f"the vector cache {cache_dir} would hold your own key as well: {path}",
            expected="a folder for vectors that does not hold the user's settings",
            found=str(cache_dir),
            remedy="name another folder with --cache-dir",
        )
    try:
        if not os.path.lexists(path):
            _make_key(path)
    except OSError as error:
        note = (
            f"no key of your own can be kept at {path} ({error.strerror}): what this run embeds "
            "will count as somebody else's vectors"
        )
        return os.urandom(KEY_LENGTH), note
    return _read_key(path), ""


def _make_key(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Another process may have been first.
    with suppress(FileExistsError):
        write_whole(path, os.urandom(KEY_LENGTH), overwrite=False, mode=PRIVATE, synced=True)


def _read_key(path: Path) -> bytes:
    try:
        # Whoever put a pipe there must not make the run wait for its other end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(
            f"your own key can't be read: {path}",
            expected="a file that you may read",
            found=error.strerror or str(error),
            remedy="restore its owner and mode 0600, or remove it: a new one is made, and vectors kept under the old "
            "one are compared with new ones before they are used",
        ) from error
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise _not_a_key(path, "a file", "a pipe, device or folder")
        if state.st_uid != os.geteuid():
            raise InputError(
                f"{path} is not your own key",
                expected=f"a file of the user {os.geteuid()}, who runs this",
                found=f"one of the user {state.st_uid}, who could make seals of yours with it",
                remedy="move the file away: a new key is made",
            )
        refuse_shared(path, "key", "if others could have read it, remove it: a new one is made", descriptor)
        key = os.read(descriptor, KEY_LENGTH + 1)
    finally:
        os.close(descriptor)
    if len(key) != KEY_LENGTH:
        raise _not_a_key(path, f"{KEY_LENGTH} bytes", f"{state.st_size} bytes")
    return key


def _not_a_key(path: Path, expected: str, found: str) -> InputError:
    return InputError(
        f"{path} is not a key that RecallBench made",
        expected=expected,
        found=found,
        remedy="move the file away: a new key is made",
    )
