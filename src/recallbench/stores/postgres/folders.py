"""The folder of one embedded server, and whether its owner is alive."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from recallbench import scratch
from recallbench.errors import Blocked
from recallbench.interruption import on_forced_end
from recallbench.stores.postgres.processes import PATIENCE, birth, end_server, kill_processes, servers_in
from recallbench.stores.postgres.shared_memory import free_left_by_server

PREFIX = "recallbench-pg-"
MARKER = "embedded server of recallbench"
LONGEST_SOCKET = 107
"""Bytes the system leaves for the path of a socket (104 with the closing zero on macOS, 108 on Linux)."""
SOCKET_NAME = "/run/.s.PGSQL.5432"
DATA = Path("run", "data")
HASTE = 0.1
"""Seconds that a server gets to end in good order when the program must end at once."""
ROUNDS = 10
"""The number of looks for processes that keep starting others."""


def server_places() -> tuple[Path, ...]:
    """Return the folders that a server's own may lie in, best first."""
    folders = (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"))
    return tuple(dict.fromkeys(place.resolve() for place in folders if place.is_dir()))


def can_hold_server(place: Path, uid: int) -> bool:
    """Whether a folder made in `place` can hold a socket, and the user can get there."""
    short = len(os.fsencode(place)) + 1 + len(PREFIX) + 8 + len(SOCKET_NAME) <= LONGEST_SOCKET - 3
    if uid == os.geteuid():
        return short and os.access(place, os.W_OK | os.X_OK)
    return short and all(folder.stat().st_mode & 0o001 for folder in (place, *place.parents))


class ServerFolder:
    """A folder of our own that is removed when closed, or by a later run when its owner died."""

    def __init__(self, uid: int, gid: int) -> None:
        place = next((place for place in server_places() if can_hold_server(place, uid)), None)
        if place is None:
            raise Blocked(
                "no temporary folder can hold the embedded server",
                expected="a folder with a short path that the server's user can reach",
                found=", ".join(map(str, server_places())),
                remedy="TMPDIR=/var/tmp recallbench run …, or name a server: --dsn postgresql://…",
            )
        self._room = scratch.Scratch(place, PREFIX, MARKER)
        self._facts: dict[str, Any] = {}
        self._forget = on_forced_end(lambda: _cleaned(self.path, self._facts, HASTE))
        self.path = self._room.path
        self.run = self.path / "run"
        self.run.mkdir(mode=0o700)
        if uid != os.geteuid():
            self.path.chmod(0o711)
            os.chown(self.run, uid, gid)

    def record(self, pid: int) -> None:
        """Note which process is at work here, so that a later run can stop it."""
        self._facts = {"pid": pid, "born": birth(pid)}
        self._room.note(self._facts)

    def remove(self) -> None:
        """Delete everything, also what a killed server left elsewhere, and let go of the lock."""
        _cleaned(self.path, self._facts)
        self._room.remove()
        self._forget()


def sweep(where: Iterable[Path] | None = None) -> list[Path]:
    """Stop the servers and remove the folders whose owner is dead; return what was removed."""
    return [folder for place in (where or server_places()) for folder in scratch.sweep(place, PREFIX, MARKER, _cleaned)]


def _cleaned(folder: Path, facts: Mapping[str, Any], patience: float = PATIENCE) -> None:
    """End all processes of a folder that is to be removed, and free their memory outside of it."""
    pid = int(facts.get("pid", 0))
    if pid:
        end_server(pid, str(facts.get("born", "")), patience)
    # One that was killed outright leaves those behind that it had started.
    for _ in range(ROUNDS):
        # Again, since one may have started another between being seen and being killed.
        if not (left := servers_in(folder)):
            break
        kill_processes(left)
    free_left_by_server(folder / DATA, pid)
