"""Room on disk for unfinished work: gone when the work is done, and swept by a later run when its owner was killed.

The owner holds a lock on the file `owner` for as long as it lives; the system lets go of it whatever happens. That file
is the first to come and the last to go, so that a folder is never without it for longer than it is empty.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from recallbench.interruption import on_forced_end, postpone_signals

PREFIX = ".recallbench-"
OWNER = "owner"
MARKER = "unfinished work of recallbench"

BeforeRemoval = Callable[[Path, Mapping[str, Any]], None]
"""Called with a dead owner's folder and notes before these are removed."""


class Scratch:
    """A folder that this process alone owns, until it is removed."""

    def __init__(self, place: Path, prefix: str = PREFIX, marker: str = MARKER) -> None:
        self._marker = marker
        owner = None
        while owner is None:
            self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
            owner = _claimed(self.path / OWNER)
        self._owner = owner
        self._forget = on_forced_end(partial(_remove, self.path))
        self.note({})

    def note(self, facts: Mapping[str, Any]) -> None:
        """Write down facts for the sweep after this process; they replace those noted before."""
        # In one write, and the first line counts: whenever this process is killed, either this stands there or that.
        os.pwrite(self._owner.fileno(), (json.dumps({"marker": self._marker, **facts}) + "\n").encode(), 0)

    def remove(self) -> None:
        """Delete everything and let go of the lock. May be called twice."""
        if not self._owner.closed:
            _remove(self.path)
            self._owner.close()
            self._forget()


@contextmanager
def scratch(place: Path) -> Iterator[Path]:
    """Yield an empty folder in `place` for the time of the block; leftovers of dead runs are removed first."""
    sweep(place)
    with ExitStack() as ending:
        # A folder that is made and not known yet would stay until the next sweep.
        with postpone_signals():
            room = Scratch(place)
            ending.callback(_removed, room)
        yield room.path


def _removed(room: Scratch) -> None:
    with postpone_signals():
        room.remove()


def sweep(
    place: Path, prefix: str = PREFIX, marker: str = MARKER, before_removal: BeforeRemoval | None = None
) -> list[Path]:
    """Remove the folders in `place` whose owner is dead, and return them."""
    return [folder for folder in _candidates(place, prefix) if _swept(folder, marker, before_removal)]


def _claimed(path: Path) -> TextIO | None:
    """Return the file, locked; None where a sweep took the folder, which was still empty, for a dead owner's."""
    try:
        file = path.open("x+", encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    except OSError:
        return file  # where nothing can be locked, a sweep leaves everything
    if os.fstat(file.fileno()).st_nlink:
        return file
    file.close()
    return None


def _candidates(place: Path, prefix: str) -> Iterator[Path]:
    try:
        with os.scandir(place) as scanned:
            entries = [Path(entry.path) for entry in scanned if entry.name.startswith(prefix)]
    except OSError:
        return
    for folder in entries:
        try:
            state = folder.lstat()
        except OSError:
            continue
        # A name is no proof: in a shared temporary folder anyone can make a folder that is called like ours.
        if folder.is_dir() and not folder.is_symlink() and state.st_uid == os.geteuid():
            yield folder


def _swept(folder: Path, marker: str, before_removal: BeforeRemoval | None) -> bool:
    try:
        file = os.fdopen(os.open(folder / OWNER, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8")
    except FileNotFoundError:
        return _removed_if_empty(folder)
    except OSError:
        return False
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            noted = file.readline()
            # One that was killed before it wrote a word had nothing else yet.
            facts = json.loads(noted) if noted or os.listdir(folder) != [OWNER] else {"marker": marker}
        except (OSError, ValueError, RecursionError):
            return False
        if not isinstance(facts, dict) or facts.get("marker") != marker:
            return False
        if before_removal is not None:
            before_removal(folder, facts)
        _remove(folder)
    return not folder.exists()


def _remove(folder: Path) -> None:
    try:
        with os.scandir(folder) as scanned:
            others = [entry for entry in scanned if entry.name != OWNER]
        for entry in others:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)
        # Not while anything is left, else nobody could tell any more whose it was.
        if os.listdir(folder) == [OWNER]:
            os.unlink(folder / OWNER)
        os.rmdir(folder)
    except OSError:
        pass  # a later sweep finds it as it is now


def _removed_if_empty(folder: Path) -> bool:
    try:
        os.rmdir(folder)  # no harm to an owner at work: it sees that its folder is gone, and makes another
    except OSError:
        return False
    return True
