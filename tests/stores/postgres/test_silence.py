"""Servers that stopped answering without a word."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from recallbench.stores.postgres import silence
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.postgres.postgres import connect
from recallbench.stores.postgres.silence import answers
from stores.credentials import PASSWORD

KEPT_ALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4, "TCP_USER_TIMEOUT": 120_000}
WAITS = """
import os, signal, sys
from recallbench.errors import Blocked
from recallbench.stores.postgres.postgres import connect, database_errors
with connect(sys.argv[1]) as session:
    print(session.info.backend_pid, flush=True)
    input()
    try:
        with database_errors("searching"):
            session.execute("SELECT 1")
    except Blocked as blocked:
        print(blocked)
"""


def test_a_server_answers_before_anybody_logs_in(dsn: str, tcp_dsn: str) -> None:
    for each in (dsn, tcp_dsn):
        with psycopg.connect(each) as session:
            host, port = session.info.hostaddr or session.info.host, session.info.port
        assert answers(host, port)
    # Whoever accepts and says nothing is silent; where nobody accepts, the system says so.
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = listening.getsockname()
        assert not answers(*address, seconds=0.1)
    assert answers(*address, seconds=5.0)


def test_nothing_to_ask_with_is_no_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object) -> socket.socket:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(socket, "socket", none_left)
    assert answers("127.0.0.1", 5432)


def test_a_new_session_forgets_the_silence_of_its_own_server_alone(
    tcp_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect(tcp_dsn) as session:
        here = session.info.hostaddr, session.info.port
    monkeypatch.setattr(silence, "_silent", {here: "it", ("10.0.0.7", 5432): "another"})
    connect(tcp_dsn).close()
    assert silence.silence() == "another"


@pytest.mark.parametrize("password", [None, PASSWORD], ids=["socket", "tcp"])
def test_a_call_to_a_frozen_server_ends(password: str | None) -> None:
    with EmbeddedServer(password=password) as server:
        waiting = subprocess.Popen(
            [sys.executable, "-c", WAITS, server.dsn],
            env=os.environ | {"RECALLBENCH_STORE_TIMEOUT": "0.5"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert waiting.stdout
        frozen = [server.pid, int(waiting.stdout.readline())]
        try:
            for process in frozen:
                os.kill(process, signal.SIGSTOP)
            told, _ = waiting.communicate("\n", timeout=30)
        finally:
            waiting.kill()
            for process in frozen:
                os.kill(process, signal.SIGCONT)
        folder = server.folder
    place = told.partition("nothing came from ")[2].partition(" in ")[0]
    assert place.startswith("127.0.0.1:" if password else f"{Path(str(folder)) / 'run'}:")
    assert told.splitlines() == [
        "the server was lost while searching",
        f"  found: nothing came from {place} in 1 s, on a connection of its own",
        "  what to do: mend what made it silent, or allow more seconds with RECALLBENCH_STORE_TIMEOUT, then run again",
    ]


def test_the_system_looks_after_sessions_too(tcp_dsn: str) -> None:
    with connect(tcp_dsn) as session, socket.socket(fileno=os.dup(session.fileno())) as end:
        asked = ("SO_KEEPALIVE", socket.SOL_SOCKET), *((name, socket.IPPROTO_TCP) for name in KEPT_ALIVE)
        assert {name: end.getsockopt(level, getattr(socket, name)) for name, level in asked} == {
            "SO_KEEPALIVE": 1,
            **KEPT_ALIVE,
        }
