"""The register of runs that have written into a graph database: a later one removes what a killed one left.

    (:RecallBenchRun {tenant, place, pid, born})

Each run creates such a node before it writes anything else, and removes it last. A run is known to be dead only where
its machine is this one (the same boot and process namespace) and has no process with that id and moment of birth. A run
of another machine may be alive, whatever its age: it is left alone, and a note has the statement that removes it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recallbench.stores.graph.bolt import Bolt

TENANT = re.compile(r"recallbench-[0-9a-f]{16}")
AT_ONCE = 500
"""Nodes that one statement removes."""

REGISTER = "CREATE (r:RecallBenchRun {tenant: $tenant, place: $place, pid: $pid, born: $born})"
RUNS = "MATCH (r:RecallBenchRun) RETURN r.tenant AS tenant, r.place AS place, r.pid AS pid, r.born AS born"
REMOVALS = (
    "MATCH (n:RecallBenchSession) WHERE n.tenant = $tenant WITH n LIMIT $most DETACH DELETE n RETURN count(*) AS gone",
    "MATCH (n:RecallBenchEntity) WHERE n.tenant = $tenant WITH n LIMIT $most DETACH DELETE n RETURN count(*) AS gone",
    "MATCH (n:RecallBenchScope) WHERE n.tenant = $tenant WITH n LIMIT $most DETACH DELETE n RETURN count(*) AS gone",
    "MATCH (n:RecallBenchRun) WHERE n.tenant = $tenant WITH n LIMIT $most DETACH DELETE n RETURN count(*) AS gone",
)


def register_run(server: Bolt, tenant: str) -> None:
    """Write down that this process is at work under that name."""
    own = os.getpid()
    server.run("enrolling", REGISTER, tenant=tenant, place=_machine(), pid=own, born=_born(own))


def sweep(server: Bolt) -> Iterator[str]:
    """Remove what dead runs left; yields a line for each that was removed, and for each that may be alive."""
    here = _machine()
    for row in server.run("looking for runs that died", RUNS):
        tenant = row["tenant"]
        if not isinstance(tenant, str) or not TENANT.fullmatch(tenant):
            continue  # none of ours
        if not here or row["place"] != here:
            yield (
                f"the graph database at {server.address} holds what the run {tenant} of another machine wrote; if it is"
                f" dead, this removes it: MATCH (n) WHERE n.tenant = '{tenant}' DETACH DELETE n"
            )
        elif _is_dead(row["pid"], row["born"]):
            remove_run(server, tenant)
            yield f"removed from the graph database at {server.address} what the run {tenant} left, which was killed"


def remove_run(server: Bolt, tenant: str) -> None:
    """Remove all that was written under that name, the name last."""
    for statement in REMOVALS:
        # A server that counts nothing at the end has nothing left.
        while sum(row["gone"] for row in server.run("cleaning up", statement, tenant=tenant, most=AT_ONCE)):
            pass


def _machine() -> str:
    """Return the machine and namespace that process ids belong to; empty where the system does not tell."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _is_dead(pid: Any, born: Any) -> bool:
    if not isinstance(pid, int) or isinstance(pid, bool) or pid <= 0 or not isinstance(born, str) or not born:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass  # another user's: alive, unless it is a later one of the same id
    actual = _born(pid)
    return bool(actual) and actual != born


def _born(pid: int) -> str:
    """Return when the process began, in ticks since the boot; `ended` for a zombie, empty where there is none."""
    try:
        # The name before it stands in brackets, and may hold any character.
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "ended" if fields[0] in "ZX" else fields[19]
