"""A Postgres of our own for the time of one run, where the user names no server."""

from __future__ import annotations

import _thread
import errno
import os
import pwd
import re
import secrets
import signal
import socket
import subprocess
import tempfile
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recallbench.confidential import remember_secrets
from recallbench.errors import Blocked
from recallbench.stores.postgres.binaries import REMEDY, Install, find_install, readable_by
from recallbench.stores.postgres.folders import DATA, ServerFolder, sweep
from recallbench.stores.postgres.processes import birth, end_server
from recallbench.stores.postgres.shared_memory import NO_ROOM, ROOM

USER = "recallbench"
SERVICE_USER = "nobody"
LOOPBACK = "127.0.0.1"
PATIENCE = 60.0
"""Seconds a server may take to come up; it takes a quarter of one."""
GRACE = 10.0
"""Seconds after which a start that was asked for and has not begun was interrupted, and will not."""
LAST_BREATH = 0.5
"""Seconds after which a server whose connection was lost is taken for alive."""

# The data live as long as one run and can be made again, so nothing is written for the case of a crash. Connections
# are for the clients of two systems in a latency study, and whoever fills and looks.
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
    "jit": "off",
    "shared_buffers": "128MB",
    "max_connections": "160",
    "huge_pages": "off",
    "dynamic_shared_memory_type": "mmap",
    "logging_collector": "off",
    "timezone": "UTC",
}


_serving: dict[int, tuple[subprocess.Popen[bytes], Path]] = {}
"""The servers that came up, each with its log, until they are stopped."""


def is_serving() -> bool:
    """Whether this program runs a server of its own now."""
    return bool(_serving)


def fate_of_server() -> str:
    """Return why the embedded server ended, and the end of its log, after a lost connection; empty without one."""
    servers = tuple(_serving.values())
    deadline = time.monotonic() + LAST_BREATH
    while servers and time.monotonic() < deadline:
        for process, log in servers:
            if fate := _how_it_ended(process):
                return f"the embedded server: {fate}; {_end_of(log)}"
        time.sleep(0.01)
    return f"the embedded server: it still runs; {_end_of(servers[0][1])}" if len(servers) == 1 else ""


class EmbeddedServer:
    """A server on a private socket, which answers to nobody without a password that only this process knows.

    With a password of the caller's it is an ordinary one on a loopback port instead. As root it runs as `nobody`, else
    as the user, always in a folder of its own that goes when it stops.
    """

    def __init__(self, *, password: str | None = None, install: Install | None = None) -> None:
        self._on_port = password is not None
        self._password = password or new_password()
        self._install = install
        self._failure: BaseException | None = None
        self._parts: dict[str, Any] = {}
        self._address = ("", 0)
        self._owner = os.getpid()
        # Stays armed after a stop: an interrupted stop is finished at the program's end.
        weakref.finalize(self, _stop, self._parts, self._owner)

    @property
    def dsn(self) -> str:
        """Return its address with the password; starts it, or waits for it, when need be."""
        self.begin()
        _settle(self._parts)
        if self._failure:
            raise self._failure
        return _dsn(*self._address, self._password)

    @property
    def pid(self) -> int:
        """The number of the server's process, 0 when none runs."""
        process = self._parts.get("process")
        return process.pid if process else 0

    @property
    def folder(self) -> Path | None:
        """Return the folder of all that the server has on disk."""
        folder = self._parts.get("folder")
        return folder.path if folder else None

    def begin(self) -> None:
        """Start in the background; a failure is raised when `dsn` is read."""
        if "state" not in self._parts:
            try:
                install = self._install or find_install()
            except Blocked as error:
                self._failure, self._parts["state"] = error, "over"
                return
            self._parts["state"] = "asked"
            # Thread.start waits on a threading.Event: see _settle.
            _thread.start_new_thread(self._start, (install,))

    def stop(self) -> None:
        """Shut the server down and remove its folder. May be called twice."""
        _stop(self._parts, self._owner)

    def __enter__(self) -> EmbeddedServer:
        self.dsn  # noqa: B018
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self, install: Install) -> None:
        self._parts["state"] = "starting"
        try:
            self._started(install)
        except OSError as error:
            folder = self.folder or Path(tempfile.gettempdir())
            self._failure = Blocked(
                "the embedded Postgres could not be started",
                found=str(error),
                remedy=_remedy(str(error), folder)
                if error.errno == errno.ENOSPC
                else "name a server: --dsn postgresql://user@host/database",
            )
        except BaseException as error:  # noqa: BLE001 (raised where the address is asked for)
            self._failure = error
        finally:
            if self._failure:
                _clear(self._parts)
            self._parts["state"] = "over"

    def _started(self, install: Install) -> None:
        # Runs in the background, where nothing may be imported: a Ctrl-C that meets an import in the main thread can
        # leave Python's import lock taken for good.
        remember_secrets(self._password)
        sweep()
        uid, gid = _service_user()
        folder = self._parts["folder"] = ServerFolder(uid, gid)
        if uid != os.geteuid() and not all(readable_by(path, uid, gid) for path in install.needed):
            install = install.copied_to(folder.path / "install")
        _initialise(install, folder, uid, gid, self._password)
        host, port = (LOOPBACK, _free_port()) if self._on_port else (str(folder.run), 5432)
        options = dict(SETTINGS, listen_addresses=LOOPBACK if self._on_port else "", port=str(port))
        options["unix_socket_directories"] = str(folder.run)
        command = [str(install.bin / "postgres"), "-D", str(folder.path / DATA)]
        for name, value in options.items():
            command += ["-c", f"{name}={value}"]
        with (folder.run / "log").open("wb") as log:
            # A session of its own: Ctrl-C in the terminal is for us, who then stop the server in good order.
            process = subprocess.Popen(command, stdout=log, stderr=log, **_as_user(uid, gid, folder.run))
        self._parts["process"] = process
        folder.record(process.pid)
        self._address = (host, port)
        _await(process, folder.run)
        _serving[process.pid] = process, folder.run / "log"


def _service_user() -> tuple[int, int]:
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    try:
        user = pwd.getpwnam(SERVICE_USER)
    except KeyError:
        raise Blocked(
            "Postgres does not run as root, and this machine has no user `nobody`",
            remedy="run as an ordinary user, or name a server: --dsn postgresql://…",
        ) from None
    return user.pw_uid, user.pw_gid


def _as_user(uid: int, gid: int, folder: Path) -> dict[str, Any]:
    # Nothing of the caller's environment: PG* variables and locales would change the server.
    surroundings = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TZ": "UTC", "TMPDIR": str(folder)}
    common = {"cwd": folder, "env": surroundings, "stdin": subprocess.DEVNULL, "start_new_session": True}
    return common if uid == os.geteuid() else common | {"user": uid, "group": gid, "extra_groups": []}


def _initialise(install: Install, folder: ServerFolder, uid: int, gid: int, password: str) -> None:
    command = [str(install.bin / "initdb"), "-D", str(folder.path / DATA), "-U", USER, "-E", "UTF8", "--no-sync"]
    command += ["--no-instructions", "--wal-segsize=1", "-L", str(install.share)]
    command += ["--auth=scram-sha-256", "--pwfile=/dev/stdin"]
    message = ""
    # Its trial servers too need no room in /dev/shm; before Postgres 16 they have no such option.
    options = ["-c", "dynamic_shared_memory_type=mmap"]
    # Not every system has the locale C.UTF-8; Postgres 17 and later bring one of that name.
    utf8, builtin = ["--locale=C.UTF-8"], ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    for more in (utf8 + options, builtin + options, utf8):
        with _readable_once(password, uid, gid) as secret:
            process = subprocess.Popen(
                command + more,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                **_as_user(uid, gid, folder.run) | {"stdin": secret},
            )
        folder.record(process.pid)
        _, errors = process.communicate()
        if process.returncode == 0:
            return
        errors_now = errors.decode(errors="replace").strip()[-600:]
        # The first try's reason, unless it only did not know an option.
        message = errors_now if not message or re.search(r"(unrecognized|invalid|illegal) option", message) else message
    raise Blocked(
        "the embedded Postgres could not make its database folder", found=message, remedy=_remedy(message, folder.run)
    )


@contextmanager
def _readable_once(secret: str, uid: int, gid: int) -> Iterator[int]:
    """The end of a pipe that a program of that user may open by its name; no file ever holds the secret."""
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "w") as pipe:
            pipe.write(secret + "\n")
        if uid != os.geteuid():
            os.fchown(reading, uid, gid)
        yield reading
    finally:
        os.close(reading)


def _remedy(message: str, folder: Path) -> str:
    if NO_ROOM in message:
        return ROOM
    if "No space left" in message:
        return f"free about 100 MB where {folder} lies, or name another place with TMPDIR, then run again"
    return REMEDY


def _await(process: subprocess.Popen[bytes], folder: Path) -> None:
    # Read from the server's own file, not asked over a connection, which would import the client.
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if _status(folder / "data" / "postmaster.pid") == "ready":
            return
        time.sleep(0.005)
    log = _end_of(folder / "log")
    raise Blocked(
        "the embedded Postgres did not come up",
        found=f"{_how_it_ended(process) or f'not ready after {PATIENCE:.0f} s'}; {log}",
        remedy=_remedy(log, folder),
    )


def _how_it_ended(process: subprocess.Popen[bytes]) -> str:
    """Return in words how a process ended; empty while it runs."""
    code = process.poll()
    if code is None:
        return ""
    try:
        return f"it was killed ({signal.Signals(-code).name})" if code < 0 else f"it ended with exit code {code}"
    except ValueError:
        return f"it was killed (signal {-code})"


def _end_of(log: Path) -> str:
    """The last lines of a server's log, with words for none."""
    try:
        lines = log.read_text(errors="replace").strip()[-600:]
    except OSError as error:
        return f"its log can't be read: {error.strerror}"
    return f"the last lines of its log:\n{lines}" if lines else "its log is empty"


def _status(file: Path) -> str:
    """The eighth line of the file that a server keeps of itself."""
    try:
        return file.read_text(errors="replace").splitlines()[7].strip()
    except (OSError, IndexError):
        return ""


def _dsn(host: str, port: int, password: str) -> str:
    from psycopg.conninfo import make_conninfo

    return make_conninfo("", host=host, port=port, user=USER, dbname="postgres", password=password)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def new_password() -> str:
    """A password nobody knows, for a server of our own."""
    return secrets.token_urlsafe(18)


def _stop(parts: dict[str, Any], owner: int) -> None:
    # A forked child inherits this object, and must not stop its parent's server.
    if os.getpid() != owner:
        return
    # What is half started would go on starting, in a folder that is being removed.
    _settle(parts)
    _clear(parts)


def _settle(parts: dict[str, Any]) -> None:
    # A plain word, looked at again and again: a Ctrl-C can leave the lock inside a threading.Event taken for good,
    # and makes Thread.join take a running thread for ended (Python 3.11).
    deadline = time.monotonic() + GRACE
    while parts.get("state") == "starting" or (parts.get("state") == "asked" and time.monotonic() < deadline):
        time.sleep(0.002)


def _clear(parts: dict[str, Any]) -> None:
    process: subprocess.Popen[bytes] | None = parts.get("process")
    if process:
        if process.poll() is None:
            end_server(process.pid, birth(process.pid))
        process.wait()
        _serving.pop(process.pid, None)
        del parts["process"]
    folder: ServerFolder | None = parts.get("folder")
    if folder:
        folder.remove()
        del parts["folder"]
