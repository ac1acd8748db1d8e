"""A cluster of this machine's cores, for one command: it listens on the loopback alone, and leaves nothing."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from recallbench.cluster.leftovers import PROCESSES, end_leftovers, rays_descendants
from recallbench.cluster.surroundings import (
    BINDS_LOOPBACK,
    IN_PROCESS_INSTEAD,
    LOOPBACK,
    QUIET,
    connect,
    import_ray,
    variables,
)
from recallbench.cluster.worker import cores_here
from recallbench.confidential import remember_secrets
from recallbench.errors import Blocked
from recallbench.interruption import on_forced_end
from recallbench.scratch import Scratch, sweep

PREFIX, MARKER = ".recallbench-ray-", "a Ray cluster of recallbench"
STARTING = 90.0
"""Seconds that it may take to start."""
OBJECT_STORE = 256 << 20
"""Bytes of its shared memory; what does not fit is put on disk, in its own folder."""
NONE_IDLE = {"RAY_prestart_worker_first_driver": "0"}
"""Workers are started when they are hired: Ray would have one for each core wait for work, and wait for them itself."""
ONLOOKERS = ("start_api_server", "start_monitor", "start_log_monitor")
"""What starts Ray's dashboard, without its pages too, what adds machines, and what reads logs: nobody asks for them."""


@contextmanager
def started() -> Iterator[Any]:
    """Start a cluster of one node, and yield Ray, connected to it; every process of it ends with the block."""
    place = _short_place()
    sweep(place, PREFIX, MARKER, end_leftovers)
    room = Scratch(place, PREFIX, MARKER)
    try:
        with variables({**BINDS_LOOPBACK, **QUIET, **NONE_IDLE, **_own_token()}):
            ray = _start(room.path)
            forget = on_forced_end(_end_processes)
            try:
                room.note({PROCESSES: rays_descendants()})
                yield ray
            finally:
                ray.shutdown()
                forget()
    finally:
        room.remove()


def _start(room: Path) -> Any:
    ray, cores = import_ray(), cores_here()

    def refused(found: str) -> Blocked:
        return Blocked(
            "Ray can't be started on this machine",
            expected=f"a cluster of {cores} cores within {STARTING:.0f} s",
            found=found,
            remedy=f"free memory and room in {tempfile.gettempdir()}; {IN_PROCESS_INSTEAD}",
        )

    try:
        with without_onlookers():
            connect(
                ray,
                "local",
                STARTING,
                refused,
                num_cpus=cores,
                object_store_memory=OBJECT_STORE,
                _node_ip_address=LOOPBACK,
                _temp_dir=str(room),
                include_dashboard=False,
            )
    except BaseException:
        _end_processes()
        with suppress(Exception):
            ray.shutdown()
        raise
    return ray


@contextmanager
def without_onlookers() -> Iterator[None]:
    """Have Ray start only what works: its onlookers take as long as all the rest, one after the other."""
    from ray._private.node import Node

    before = {name: getattr(Node, name) for name in ONLOOKERS}
    for name in ONLOOKERS:
        setattr(Node, name, lambda *_, **__: None)
    try:
        yield
    finally:
        for name, method in before.items():
            setattr(Node, name, method)


def _end_processes() -> None:
    """End the processes that this one started for Ray, at once."""
    from ray._private import worker

    node = getattr(worker, "_global_node", None)
    if node is not None:
        node.kill_all_processes(check_alive=False, allow_graceful=False)


@cache
def _random_token() -> str:
    token = secrets.token_hex(32)
    remember_secrets(token)
    return token


def _own_token() -> dict[str, str]:
    """Return what lets a program in. Ray reads it once in a process: another cluster of it is let in by the same."""
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": os.environ.get("RAY_AUTH_TOKEN") or _random_token()}


def _short_place() -> Path:
    """Return the folder for temporary ones: the name of a socket in them must not exceed 107 characters."""
    usual = Path(tempfile.gettempdir())
    return usual if len(str(usual)) <= 16 or not os.access("/tmp", os.W_OK) else Path("/tmp")
