"""A cluster that stands: joined where it lets this program in, else refused with the reason."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from recallbench.cluster.surroundings import (
    BINDS_LOOPBACK,
    IN_PROCESS_INSTEAD,
    LOOPBACK,
    QUIET,
    SILENT,
    first_line,
    handlers_kept,
    import_ray,
    variables,
)
from recallbench.errors import Blocked
from recallbench.interruption import TimeLimitExceeded, time_limit

LISTENING, ANSWERING = 5.0, 30.0
"""Seconds that it may take to accept a connection, and to let this program in."""
_PROBE = "import sys, ray; ray.init(sys.argv[1], log_to_driver=False, logging_level=50)"


@contextmanager
def joined(address: str) -> Iterator[Any]:
    """Connect to the cluster at an address, and yield Ray; the cluster stays as it is."""
    loopback = BINDS_LOOPBACK if address.rpartition(":")[0] == LOOPBACK else {}
    with variables({**loopback, **QUIET}):
        _refuse_no_cluster(address)
        with handlers_kept():
            ray = _join(address)
        try:
            yield ray
        finally:
            ray.shutdown()


def _join(address: str) -> Any:
    ray = import_ray()

    try:
        with time_limit(ANSWERING):
            ray.init(address, **SILENT)
    except (TimeLimitExceeded, Exception) as error:  # Ray raises whatever it likes
        raise _not_let_in(address, first_line(error)) from error
    return ray


def _refuse_no_cluster(address: str) -> None:
    """Raise Blocked where no cluster answers that would let this program in.

    Ray tries again for a minute and more, and no signal interrupts it: so another process tries first, which can be
    given up.
    """
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), LISTENING).close()
    except OSError as error:
        raise Blocked(
            f"there is no Ray cluster at {address}",
            expected="HOST:PORT as `ray start --head` printed it, on a machine that this one reaches",
            found=f"no connection: {error.strerror or error}",
            remedy=f"start the cluster, or leave out --ray-address: then Ray is started here; {IN_PROCESS_INSTEAD}",
        ) from error
    trying = subprocess.Popen(
        [sys.executable, "-c", _PROBE, address],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        said, _ = trying.communicate(timeout=ANSWERING)
    except subprocess.TimeoutExpired:
        os.killpg(trying.pid, signal.SIGKILL)
        said, _ = trying.communicate()
        raise _not_let_in(address, _reason(said) or f"no answer within {ANSWERING:.0f} s") from None
    except BaseException:
        os.killpg(trying.pid, signal.SIGKILL)
        trying.wait()
        raise
    if trying.returncode:
        raise _not_let_in(address, _reason(said) or "it ended without a word")


def _reason(said: str) -> str:
    """Return what Ray's messages say of a connection that failed."""
    if "Version mismatch" in said:
        versions = re.findall(r"Ray: (\S+)\s+Python: (\S+)", said)
        theirs, ours = (f"Ray {ray} with Python {python}" for ray, python in (*versions, ("?", "?"), ("?", "?"))[:2])
        return f"the cluster has {theirs}, this program {ours}"
    if re.search(r"unauthenticated|authentication|invalid.{0,20}token", said, re.IGNORECASE):
        return "it takes another token"
    lines = [line.strip() for line in said.splitlines() if re.match(r"\s*[\w.]*(Error|Exception)\b", line)]
    return lines[-1][:300] if lines else ""


def _not_let_in(address: str, found: str) -> Blocked:
    return Blocked(
        f"the Ray cluster at {address} can't be used",
        expected="a cluster of the same Ray and Python, of which this machine is a node, and its token",
        found=found,
        remedy="install there what is installed here; RAY_AUTH_MODE=token and RAY_AUTH_TOKEN, where it has a token; "
        f"`ray start --address={address}` makes this machine a node; {IN_PROCESS_INSTEAD}",
    )
