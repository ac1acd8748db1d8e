"""The folder of one embedded server: whose it is, and how to tell a living owner from a dead one."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from recallbench.errors import Blocked

PREFIX = "recallbench-pg-"
MARKER = "embedded server of recallbench"
LONGEST_SOCKET = 107
"""Bytes the system leaves for the path of a socket (104 with the closing zero on macOS, 108 on Linux)."""
SOCKET_NAME = "/run/.s.PGSQL.5432"
HALF_MADE = 3600.0
"""Seconds after which a folder of ours without an owner file was given up, not just being made."""


def places() -> tuple[Path, ...]:
    """Where a server's folder may lie, best first."""
    found = (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"))
    return tuple(dict.fromkeys(place.resolve() for place in found if place.is_dir()))


def open_to(place: Path, uid: int) -> bool:
    """Whether a folder made in `place` can hold a socket, and the user can get there."""
    short = len(os.fsencode(place)) + 1 + len(PREFIX) + 8 + len(SOCKET_NAME) <= LONGEST_SOCKET - 3
    if uid == os.geteuid():
        return short and os.access(place, os.W_OK | os.X_OK)
    return short and all(folder.stat().st_mode & 0o001 for folder in (place, *place.parents))


class Folder:
    """A folder of our own that is removed when closed, or by a later run when its owner died.

    The owner holds a lock on the file `owner` for as long as it lives; the system lets go of it whatever happens.
    """

    def __init__(self, uid: int, gid: int) -> None:
        place = next((place for place in places() if open_to(place, uid)), None)
        if place is None:
            raise Blocked(
                "no temporary folder can hold the embedded server",
                expected="a folder with a short path that the server's user can reach",
                found=", ".join(map(str, places())),
                remedy="TMPDIR=/var/tmp recallbench run …, or name a server: --dsn postgresql://…",
            )
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
        self._owner = (self.path / "owner.new").open("w+", encoding="utf-8")
        fcntl.flock(self._owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._write({"marker": MARKER})
        (self.path / "owner.new").rename(self.path / "owner")
        self.run = self.path / "run"
        self.run.mkdir(mode=0o700)
        if uid != os.geteuid():
            self.path.chmod(0o711)
            os.chown(self.run, uid, gid)

    def record(self, pid: int) -> None:
        """Note which process serves from here, so that a later run can stop it."""
        self._write({"marker": MARKER, "pid": pid, "born": birth(pid)})

    def remove(self) -> None:
        """Delete everything and let go of the lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._owner.close()

    def _write(self, facts: dict[str, object]) -> None:
        self._owner.seek(0)
        self._owner.truncate()
        json.dump(facts, self._owner)
        self._owner.flush()


def sweep(where: Iterable[Path] | None = None) -> list[Path]:
    """Stop the servers and remove the folders whose owner is dead; return what was removed."""
    return [folder for place in (where or places()) for folder in _candidates(place) if _cleared(folder)]


def birth(pid: int) -> str:
    """When a process began, in whatever words this system has; empty when there is no such process."""
    try:
        # The command's name stands in brackets and may hold anything; the start is the 20th field after it.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        if Path("/proc/self/stat").exists():
            return ""
    told = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return told.stdout.strip()


def end(pid: int, born: str, patience: float = 10.0) -> None:
    """Stop the server that began as `born`: fast, then at once; another process with that number is left alone."""
    for order in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        if not born or birth(pid) != born:
            return
        try:
            os.kill(pid, order)
        except (ProcessLookupError, PermissionError):
            return
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline and birth(pid) == born and not _is_zombie(pid):
            time.sleep(0.01)
        if _is_zombie(pid):
            return


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False


def _candidates(place: Path) -> Iterator[Path]:
    try:
        entries = [Path(entry.path) for entry in os.scandir(place) if entry.name.startswith(PREFIX)]
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


def _cleared(folder: Path) -> bool:
    try:
        handle = (folder / "owner").open(encoding="utf-8")
    except OSError:
        return _given_up(folder)
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            facts = json.load(handle)
        except (OSError, ValueError):
            return False
        if facts.get("marker") != MARKER:
            return False
        if "pid" in facts:
            end(int(facts["pid"]), str(facts["born"]))
        shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def _given_up(folder: Path) -> bool:
    try:
        old = time.time() - folder.lstat().st_mtime > HALF_MADE
        if not old or not {entry.name for entry in os.scandir(folder)} <= {"owner.new"}:
            return False
    except OSError:
        return False
    shutil.rmtree(folder, ignore_errors=True)
    return True
