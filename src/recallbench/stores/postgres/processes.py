"""Processes that this program started, known by number and birth: a later one may get the number."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from recallbench.machine_load import process_fields

PATIENCE = 3.0
"""Seconds that a server has to end in good order, and as many again to end at once, before it is killed."""

PROGRAMS = frozenset({"postgres", "initdb"})


def birth(pid: int) -> str:
    """Return when a process began, in whatever words this system has; empty when there is no such process."""
    if Path("/proc/self/stat").exists():
        fields = process_fields(pid)
        return fields[19] if fields else ""
    listing = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return listing.stdout.strip()


def end_server(pid: int, born: str, patience: float = PATIENCE) -> None:
    """Stop the server that began as `born` and whatever it started; another process with that number is left alone.

    A server halted by a signal is woken to end, and is killed where that does not help.
    """
    if not born or birth(pid) != born:
        return
    family = {pid: born, **children(pid)}
    for order in (signal.SIGINT, signal.SIGQUIT):
        _send(order, {pid: born})
        _send(signal.SIGCONT, family)
        if _ended(family, patience):
            return
    kill_processes({**family, **children(pid)})


def cpu_seconds(pid: int) -> float | None:
    """Return the seconds of processors that a server has had with all that it started; None where nothing tells.

    Linux lists the children of a process in a file, so that no others are looked at: this takes a fraction of a
    millisecond.
    """
    own = process_fields(pid)
    try:
        running = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return None
    if not own:
        return None
    # Its own time and that of children that ended; of those that run, theirs.
    ticks = sum(map(int, own[11:15]))
    ticks += sum(sum(map(int, process_fields(int(child))[11:15])) for child in running)
    return ticks / os.sysconf("SC_CLK_TCK")


def kill_processes(family: Mapping[int, str]) -> None:
    """End these processes, each by its number and birth, without a word, and wait until they are gone."""
    _send(signal.SIGKILL, family)
    _ended(family, PATIENCE)


def children(pid: int) -> dict[int, str]:
    """The births of the processes that this one started and that still run."""
    return {child: birth(child) for child, parent in _parents() if parent == pid}


def servers_in(folder: Path) -> dict[int, str]:
    """The births of the Postgres processes at work in this folder, as far as the system and our rights show them."""
    servers = {}
    for process, _ in _parents():
        try:
            place, program = (os.readlink(f"/proc/{process}/{what}") for what in ("cwd", "exe"))
        except OSError:
            continue
        # By the program too: whoever looks around in there with a shell is no server.
        if Path(place).is_relative_to(folder) and Path(program.removesuffix(" (deleted)")).name in PROGRAMS:
            servers[process] = birth(process)
    return servers


def _parents() -> Iterator[tuple[int, int]]:
    if Path("/proc/self/stat").exists():
        for name in os.listdir("/proc"):
            if name.isdigit() and (fields := process_fields(int(name))):
                yield int(name), int(fields[1])
        return
    listing = subprocess.run(["ps", "-axo", "pid=,ppid="], capture_output=True, text=True, check=False)
    for line in listing.stdout.splitlines():
        process, parent = line.split()
        yield int(process), int(parent)


def _send(order: signal.Signals, family: Mapping[int, str]) -> None:
    for pid, born in family.items():
        if born and birth(pid) == born:
            # Gone meanwhile, or of another user who got the number.
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, order)


def _ended(family: Mapping[int, str], patience: float) -> bool:
    deadline = time.monotonic() + patience
    while any(born and birth(pid) == born and not _is_zombie(pid) for pid, born in family.items()):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.01)
    return True


def _is_zombie(pid: int) -> bool:
    fields = process_fields(pid)
    return bool(fields) and fields[0] in "ZX"
