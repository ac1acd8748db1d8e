"""Servers that stopped answering without a word: frozen ones, and those behind a proxy or a network that stalls.

A call to such a server never ends, and no setting of its own ends it. So now and then each server that has a session of
this process is greeted on a connection of its own, where it has to say who it is before anybody logs in. One that is
silent twice in a row has its sessions cut off, which ends the calls that wait for it.
"""

from __future__ import annotations

import _thread
import os
import socket
import struct
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from recallbench.patience import patience_of

if TYPE_CHECKING:
    from psycopg import Connection

GREETING = struct.pack("!ii", 8, 80877103)
"""The request to talk over TLS: every server answers it with one letter, whether it can or not."""
ANSWERS_WITHIN = 10.0
"""Seconds that a server may take for that letter."""
LOOK = 0.2

_sessions: WeakKeyDictionary[Connection, tuple[str, int]] = WeakKeyDictionary()
"""The sessions of this process, each with the place of its server."""
_silent: dict[tuple[str, int], str] = {}
"""What is known of servers that fell silent, until they are connected to again."""
_watching = 0
"""The process that watches: a fork has none of its parent's threads."""


def watch(session: Connection) -> None:
    """From now on cut this session off should its server fall silent."""
    global _watching
    place = session.info.hostaddr or session.info.host, session.info.port
    _silent.pop(place, None)
    _sessions[session] = place
    if _watching != os.getpid():
        _watching = os.getpid()
        # Thread.start waits on a threading.Event, which a Ctrl-C can leave locked for good.
        _thread.start_new_thread(_watch, (patience_of(os.environ),))


def silence() -> str:
    """Return which server stopped answering, in words; empty where none did."""
    return "; ".join(list(_silent.values()))


def answers(host: str, port: int, seconds: float = ANSWERS_WITHIN) -> bool:
    """Whether there is a server that says anything, or none at all: then its sessions are told by the system."""
    local = host.startswith(("/", "@"))
    address = f"{host}/.s.PGSQL.{port}" if local else (host, port)
    try:
        with socket.socket(socket.AF_UNIX if local else _family(host)) as probe:
            probe.settimeout(seconds)
            probe.connect(address)
            probe.sendall(GREETING)
            probe.recv(1)
    except TimeoutError:
        return False
    except OSError:
        return True  # no descriptor was left to ask with, for one: that is no silence of the server's
    return True


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _watch(patience: float) -> None:
    within = min(patience, ANSWERS_WITHIN)
    while True:
        end = time.monotonic() + patience
        while time.monotonic() < end:
            time.sleep(min(LOOK, patience))
        places = {place for session, place in list(_sessions.items()) if not session.closed}
        for host, port in places:
            if not answers(host, port, within) and not answers(host, port, within):
                _silent[host, port] = (
                    f"nothing came from {host}:{port} in {2 * within:.3g} s, on a connection of its own"
                )
                _cut_off(host, port)


def _cut_off(host: str, port: int) -> None:
    for session, place in list(_sessions.items()):
        # One that was closed a moment ago has no socket any more.
        with suppress(Exception):
            if place == (host, port):
                with socket.socket(fileno=os.dup(session.fileno())) as end:
                    end.shutdown(socket.SHUT_RDWR)
