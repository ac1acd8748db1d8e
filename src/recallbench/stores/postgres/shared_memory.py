"""The piece of System V memory by which a Postgres guards its folder: it outlives one that is killed."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path

TABLE = Path("/proc/sysvipc/shm")
"""The file in which Linux lists shared memory; without it nothing is removed."""
NO_ROOM = "shared memory segment"
"""The words in Postgres' message when there is no room for its other shared memory, in /dev/shm."""
ROOM = "make room in /dev/shm on the server's machine (for a container: docker run --shm-size=1g), then run again"
_REMOVE = 0


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """A piece of memory, as the system lists it."""

    key: int
    id: int
    creator: int
    """The process that made it."""
    attached: int
    """The number of processes that have it attached."""
    user: int


def shared_memory() -> list[SharedMemory]:
    """Return all shared memory on this machine."""
    try:
        rows = [line.split() for line in TABLE.read_text().splitlines()[1:]]
    except OSError:
        return []
    return [SharedMemory(int(row[0]), int(row[1]), int(row[4]), int(row[6]), int(row[7])) for row in rows]


def left_by_server(data: Path, pid: int) -> list[SharedMemory]:
    """Return the shared memory that a dead server of this data folder left; `pid` was its number, 0 if unknown."""
    try:
        state = data.stat()
    except OSError:
        return []
    try:
        # The seventh line of the file that a server keeps of itself: key and id.
        noted = tuple(map(int, (data / "postmaster.pid").read_text(errors="replace").splitlines()[6].split()))
    except (OSError, IndexError, ValueError):
        noted = ()
    return [
        segment
        for segment in shared_memory()
        if segment.user == state.st_uid
        and not segment.attached
        # Postgres takes the folder's number for the key; killed before it noted it, the creator tells whose it is.
        and (
            (segment.key, segment.id) == noted
            or (segment.creator == pid and segment.key & 0xFFFFFFFF == state.st_ino & 0xFFFFFFFF)
        )
    ]


def free_left_by_server(data: Path, pid: int) -> None:
    """Give the memory of a dead server back to the system."""
    segments = left_by_server(data, pid)
    if segments:
        library = ctypes.CDLL(None, use_errno=True)
        for segment in segments:
            library.shmctl(segment.id, _REMOVE, None)
