"""A cluster that stands: joined where it lets this program in, else refused with the reason."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TextIO

from recallbench.cluster.surroundings import (
    BINDS_LOOPBACK,
    IN_PROCESS_INSTEAD,
    LOOPBACK,
    QUIET,
    connect,
    import_ray,
    variables,
)
from recallbench.errors import Blocked

LISTENING, ANSWERING = 5.0, 30.0
"""Seconds that it may take to accept a connection, and to let this program in."""
OTHER_TOKEN = "it takes another token"
_PROBE = "import sys, ray; ray.init(sys.argv[1], log_to_driver=False, logging_level=50)"


@contextmanager
def joined(address: str) -> Iterator[Any]:
    """Connect to the cluster at an address, and yield Ray; the cluster stays as it is."""
    loopback = BINDS_LOOPBACK if address.rpartition(":")[0] == LOOPBACK else {}
    with variables({**loopback, **QUIET}):
        _refuse_no_cluster(address)
        ray = import_ray()
        connect(ray, address, ANSWERING, partial(_not_let_in, address))
        try:
            yield ray
        finally:
            ray.shutdown()


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
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        trying = subprocess.Popen(
            [sys.executable, "-c", _PROBE, address],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        try:
            reason = _outcome(trying, said)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(trying.pid, signal.SIGKILL)
            trying.wait()
    if reason:
        raise _not_let_in(address, reason)


def _outcome(trying: subprocess.Popen[bytes], said: TextIO) -> str:
    """Return why the cluster does not let a process in, as soon as that is known; empty where it does."""
    deadline = time.monotonic() + ANSWERING
    while time.monotonic() < deadline:
        with suppress(subprocess.TimeoutExpired):
            return (_reason(_all_of(said)) or "it ended without a word") if trying.wait(0.2) else ""
        if (reason := _reason(_all_of(said))) == OTHER_TOKEN:
            return reason  # Ray itself goes on asking
    return _reason(_all_of(said)) or f"no answer within {ANSWERING:.0f} s"


def _all_of(said: TextIO) -> str:
    said.seek(0)
    return said.read()


def _reason(said: str) -> str:
    """Return what Ray's messages say of a connection that failed."""
    if "Version mismatch" in said:
        versions = re.findall(r"Ray: (\S+)\s+Python: (\S+)", said)
        theirs, ours = (f"Ray {ray} with Python {python}" for ray, python in (*versions, ("?", "?"), ("?", "?"))[:2])
        return f"the cluster has {theirs}, this program {ours}"
    if re.search(r"unauthenticated|authentication|invalid.{0,20}token", said, re.IGNORECASE):
        return OTHER_TOKEN
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
