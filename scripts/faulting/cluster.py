"""A Postgres of the trial's own on a loopback port, that can be frozen, filled up, restarted and followed."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

from recallbench.stores.postgres.binaries import Install, find_install, readable_by
from recallbench.stores.postgres.processes import birth, children, kill_processes

HOST, USER, PASSWORD = "127.0.0.1", "recallbench", "of-the-trial"
SETTINGS = {
    "listen_addresses": HOST,
    "fsync": "off",
    "wal_level": "replica",
    "shared_buffers": "32MB",
    "dynamic_shared_memory_type": "mmap",
    "max_wal_size": "32MB",
    "min_wal_size": "2MB",
    "timezone": "UTC",
}
UP_WITHIN = 60.0


@cache
def service_user() -> tuple[int, int]:
    """Whom a server runs as: not root."""
    if os.geteuid():
        return os.geteuid(), os.getegid()
    nobody = pwd.getpwnam("nobody")
    return nobody.pw_uid, nobody.pw_gid


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


class Cluster:
    """A server over a folder of data, which goes on being there when the server does not."""

    def __init__(self, room: Path, data: Path | None = None, settings: Mapping[str, str] | None = None) -> None:
        """`room` is a folder that the server's user can reach; `data` is one that a server was made in already."""
        self.room, self.port = room, free_port()
        self._uid, self._gid = service_user()
        self._settings = SETTINGS | {"port": str(self.port), "unix_socket_directories": str(room), **(settings or {})}
        room.mkdir(parents=True, exist_ok=True)
        os.chown(room, self._uid, self._gid)
        self._install = _reachable(room, self._uid, self._gid)
        self.data = data or room / "data"
        self._process: subprocess.Popen[bytes] | None = None
        if data is None:
            secret = room / "secret"
            secret.write_text(PASSWORD)
            os.chown(secret, self._uid, self._gid)
            words = ["-D", str(self.data), "-U", USER, "-E", "UTF8", "--locale=C", "--auth=scram-sha-256"]
            self.program("initdb", *words, f"--pwfile={secret}", "--no-sync", "--wal-segsize=1")
            secret.unlink()

    @property
    def dsn(self) -> str:
        return f"host={HOST} port={self.port} user={USER} password={PASSWORD} dbname=postgres"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def program(self, name: str, *words: str) -> None:
        """Run one of the server's programs to its end."""
        command = [str(self._install.bin / name), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, **self._as_user())
        assert done.returncode == 0, done.stderr

    def start(self) -> Cluster:
        words = [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        with (self.room / "log").open("ab") as log:
            command = [str(self._install.bin / "postgres"), "-D", str(self.data), *words]
            self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, **self._as_user())
        end = time.monotonic() + UP_WITHIN
        while not self.is_up():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the server did not come up: {(self.room / 'log').read_text()[-2000:]}")
            time.sleep(0.01)
        return self

    def is_up(self) -> bool:
        with suppress(psycopg.OperationalError), psycopg.connect(self.dsn, connect_timeout=5):
            return True
        return False

    def stop(self, order: signal.Signals = signal.SIGINT) -> None:
        """End it: quickly with SIGINT, without a checkpoint with SIGQUIT, at once with SIGKILL. May be called twice."""
        process, self._process = self._process, None
        if process is None:
            return
        family = children(process.pid)
        self._send(signal.SIGCONT, [process.pid, *family])
        with suppress(ProcessLookupError):
            process.send_signal(order)
        process.wait(60)
        kill_processes(family)

    def restart(self) -> None:
        self.stop()
        self.start()

    def freeze(self) -> list[int]:
        """Halt it with all of its sessions."""
        os.kill(self.pid, signal.SIGSTOP)
        family = [self.pid, *children(self.pid)]
        self._send(signal.SIGSTOP, family)
        return family

    def thaw(self) -> None:
        self._send(signal.SIGCONT, [self.pid, *children(self.pid)])

    def execute(self, *statements: str) -> list[Any]:
        """Execute statements in a session of their own, whatever is set for others; return the rows of the last."""
        unbound = "-c statement_timeout=0 -c default_transaction_read_only=off -c idle_session_timeout=0"
        with psycopg.connect(self.dsn, autocommit=True, options=unbound) as session:
            rows: list[Any] = []
            for statement in statements:
                found = session.execute(statement.encode())
                rows = found.fetchall() if found.description else []
            return rows

    def schemas(self) -> list[str]:
        """The schemas of runs, which none may leave."""
        return [name for (name,) in self.execute("SELECT nspname FROM pg_namespace WHERE nspname ~ '^recallbench_'")]

    def follower(self, room: Path) -> Cluster:
        """A standby of this one, made by pg_basebackup, that streams from it once it is started."""
        room.mkdir(parents=True)
        os.chown(room, self._uid, self._gid)
        from_here = f"host={HOST} port={self.port} user={USER} password={PASSWORD}"
        self.program("pg_basebackup", "-D", str(room / "data"), "-R", "-c", "fast", "-d", from_here)
        return Cluster(room, room / "data", {"hot_standby": "on"})

    def _send(self, order: signal.Signals, family: list[int]) -> None:
        for member in family:
            if birth(member):
                with suppress(ProcessLookupError):
                    os.kill(member, order)

    def _as_user(self) -> dict[str, Any]:
        surroundings = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
        own: dict[str, Any] = {"cwd": self.room, "env": surroundings, "stdin": subprocess.DEVNULL}
        return own if self._uid == os.geteuid() else own | {"user": self._uid, "group": self._gid, "extra_groups": []}


def _reachable(room: Path, uid: int, gid: int) -> Install:
    """The installed server, copied to where its user can read it if need be."""
    install = find_install()
    if all(readable_by(path, uid, gid) for path in install.needed):
        return install
    shutil.rmtree(room / "install", ignore_errors=True)
    return install.copied_to(room / "install")
