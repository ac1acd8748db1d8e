"""Files that are whole or absent, whenever this process is killed, and keys that their owner alone may read."""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recallbench.errors import InputError, RecallBenchError
from recallbench.scratch import scratch

PRIVATE = 0o600
"""The mode of a file that its owner alone may read."""
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""The errors of a file system that knows no second name of a file."""


@contextmanager
def draft_of(path: Path, *, overwrite: bool = True) -> Iterator[Path]:
    """Yield the place for a draft, which becomes the file when the block ends well and vanishes when it does not.

    The file's folder is made where there is none. Without `overwrite`, a file that is there stays: FileExistsError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Beside its place, so that the last step is a rename within one file system.
    with scratch(path.parent) as room:
        draft = room / path.name
        yield draft
        if overwrite:
            os.replace(draft, path)
        else:
            _place_new(draft, path)


@contextmanager
def drafts_of(folder: Path) -> Iterator[Path]:
    """Yield the place for drafts of files of this folder, which take their places when the block ends well."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with scratch(folder.parent) as room:
        drafts = room / folder.name
        drafts.mkdir()
        yield drafts
        for draft in [path for path in drafts.rglob("*") if path.is_file()]:
            path = folder / draft.relative_to(drafts)
            path.parent.mkdir(parents=True, exist_ok=True)
            os.replace(draft, path)


def write_whole(
    path: Path, content: str | bytes, *, overwrite: bool = True, mode: int | None = None, synced: bool = False
) -> None:
    """Write a file by way of a draft. With `mode` it has exactly these rights, and wider ones not for a moment.

    With `synced` the draft takes its place once the disk has all of it.
    """
    rights = 0o666 if mode is None else mode
    with (
        draft_of(path, overwrite=overwrite) as draft,
        os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, rights), "wb") as file,
    ):
        if mode is not None:
            os.fchmod(file.fileno(), mode)
        file.write(content.encode() if isinstance(content, str) else content)
        if synced:
            file.flush()
            os.fsync(file.fileno())


def write_output(path: Path, content: str | bytes, *, overwrite: bool = True) -> None:
    """Write a file where its user says; raises InputError where that can't be. A link to an older one stays a link."""
    check_place(path)
    with write_errors(
        f"{path} can't be written", expected="a file in a folder that may be written to", remedy="name another file"
    ):
        write_whole(path.resolve() if overwrite else path, content, overwrite=overwrite)


def check_place(path: Path) -> None:
    """Raise InputError where the folder is not there that a user's file is to be written into: none is made for it."""
    if not path.parent.is_dir():
        raise InputError(
            f"{path} can't be written",
            expected="a file in a folder that is there",
            found=f"no folder {path.parent}",
            remedy=f"mkdir -p {shlex.quote(str(path.parent))}, or name another file",
        )


@contextmanager
def write_errors(
    problem: str, *, expected: str = "", remedy: str, kind: type[RecallBenchError] = InputError
) -> Iterator[None]:
    """Raise errors of the system in this block as one of this kind, which says what to do."""
    try:
        yield
    except OSError as error:
        raise kind(problem, expected=expected, found=error.strerror or str(error), remedy=remedy) from error


def refuse_shared(path: Path, what: str, remedy: str, opened: int | None = None) -> None:
    """Raise InputError where others than its owner may read or write the file; `what` is what the message calls it.

    `opened` is its descriptor, where it was opened before: another file may take its place meanwhile.
    """
    rights = (path.stat() if opened is None else os.fstat(opened)).st_mode & 0o777
    if rights & 0o077:
        raise InputError(
            f"{path}: others than its owner may use this {what}",
            expected=f"mode {PRIVATE:04o}",
            found=f"mode {rights:04o}",
            remedy=f"chmod 600 {path}; {remedy}",
        )


def _place_new(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Not at once, but it is all that such a file system has: the name is taken first, then the file put there.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE))
        os.replace(draft, path)
