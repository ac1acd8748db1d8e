"""Servers and functions that never answer: one signal ends the run within ten seconds, and nothing of it is left."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import psycopg
import pytest

from commandline import environment
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.postgres.folders import DATA, PREFIX
from recallbench.stores.postgres.processes import birth, children
from recallbench.stores.postgres.shared_memory import shared_memory

pytestmark = pytest.mark.marked

BOUND = 10.0
"""Seconds that the run may take from the signal to its end."""

SWALLOWS = """
import time
def memory(items, vectors):
    def search(query, k):
        while True:
            try:
                open("asked", "w").close()
                time.sleep(60)
            except BaseException:
                pass
    return search
memory.needs_vectors = False
"""


@contextmanager
def made_workspace() -> Iterator[Path]:
    """Make a folder that the server's user can reach; a run writes nowhere else."""
    with tempfile.TemporaryDirectory(prefix="recallbench-test-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def workspace() -> Iterator[Path]:
    with made_workspace() as folder:
        yield folder


def together(*cases: Callable[[Path], None]) -> None:
    """Do each in a workspace of its own, all at once: most of the time they wait for a run to end."""

    def do(case: Callable[[Path], None]) -> None:
        with made_workspace() as folder:
            case(folder)

    with ThreadPoolExecutor(len(cases)) as threads:
        for done in [threads.submit(do, case) for case in cases]:
            done.result()


@contextmanager
def started(workspace: Path, *options: str, env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """Start a run, and kill it at the end if it still runs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "recallbench", "run", "canary-locomo", "--out", "results", *options],
        cwd=workspace,
        env=environment(workspace, {"TMPDIR": str(workspace), "PYTHONHASHSEED": "42", **(env or {})}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_until(process: subprocess.Popen[str], there: Callable[[], bool]) -> None:
    """Wait until the condition holds, while the run goes on."""
    deadline = time.monotonic() + 60
    while not there():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.001)


def interrupt(process: subprocess.Popen[str], order: signal.Signals) -> str:
    """Send the run a signal, assert that it ends in time, and return its stderr."""
    sent = time.monotonic()
    process.send_signal(order)
    _, printed = process.communicate(timeout=60)
    assert time.monotonic() - sent < BOUND
    assert (process.returncode, "interrupted" in printed, "Traceback" in printed) == (130, True, False)
    return printed


def backends(server: int) -> list[int]:
    """Return the processes of client sessions."""
    sessions = []
    for child in children(server):
        with suppress(FileNotFoundError, ProcessLookupError):  # it may end between the two looks
            if b"postgres: recallbench " in Path(f"/proc/{child}/cmdline").read_bytes():
                sessions.append(child)
    return sessions


def freeze(server: int) -> dict[int, str]:
    """Stop a server and its children, and return each with its time of birth; some may end meanwhile."""
    os.kill(server, signal.SIGSTOP)
    family = {server: birth(server), **children(server)}
    for process in family:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGSTOP)
    return family


def test_a_frozen_embedded_server_does_not_delay_the_end() -> None:
    together(*(partial(frozen_embedded_server, order) for order in (signal.SIGTERM, signal.SIGINT)))


def frozen_embedded_server(order: signal.Signals, workspace: Path) -> None:
    servers: list[int] = []

    def at_work() -> bool:
        for file in workspace.glob(f"{PREFIX}*/{DATA}/postmaster.pid"):
            try:
                lines = file.read_text().splitlines()
            except FileNotFoundError:  # between two servers
                continue
            servers[:] = [int(lines[0])] if len(lines) > 7 and backends(int(lines[0])) else []
        return bool(servers)

    with started(workspace, "--store", "pgvector", "--embedder", "hash") as process:
        wait_until(process, at_work)
        family = freeze(servers[0])
        time.sleep(0.5)
        interrupt(process, order)
    assert [member for member, born in family.items() if born and birth(member) == born] == []
    assert [member for member in shared_memory() if member.creator == servers[0]] == []
    assert list(workspace.glob(f"{PREFIX}*")) == []
    assert [path for path in workspace.rglob("*") if path.parent.name == "results"] == []


def test_a_frozen_named_server_is_left_alone(workspace: Path) -> None:
    with EmbeddedServer() as server:
        family: dict[int, str] = {}
        try:
            with started(workspace, "--store", "pgvector", "--embedder", "hash", "--dsn", server.dsn) as process:
                wait_until(process, lambda: bool(backends(server.pid)))
                family = freeze(server.pid)
                time.sleep(0.5)
                interrupt(process, signal.SIGTERM)
        finally:
            for member in family:
                with suppress(ProcessLookupError):
                    os.kill(member, signal.SIGCONT)
        # The server is the user's: it goes on, and the next run removes the rows of this run.
        with psycopg.connect(server.dsn) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    assert [path for path in workspace.rglob("*") if path.parent.name == "results"] == []


@pytest.mark.parametrize("store", ["http", "graph"])
def test_a_silent_server_does_not_delay_the_end(workspace: Path, store: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        options = ["--store", "graph"] if store == "graph" else ["--store", f"http://{address}", "--embedder", "hash"]
        with started(workspace, *options, env={"NEO4J_URI": f"bolt://{address}"}) as process:
            listening.settimeout(60)
            client, _ = listening.accept()
            with client:
                interrupt(process, signal.SIGTERM)
    assert [path for path in workspace.rglob("*") if path.parent.name == "results"] == []


def test_a_function_that_no_signal_ends_is_ended_by_force() -> None:
    together(swallows_every_interruption, blocks_the_interpreter_in_c)


def swallows_every_interruption(workspace: Path) -> None:
    (workspace / "hung.py").write_text(SWALLOWS)
    env = {"PYTHONPATH": str(workspace)}
    with started(workspace, "--store", "python:hung:memory", env=env) as process:
        wait_until(process, (workspace / "asked").exists)
        # A second signal leaves the run its time to end in good order.
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        printed = interrupt(process, signal.SIGINT)
    assert "by force" in printed
    assert [path for path in workspace.rglob("*") if path.parent.name == "results"] == []


def blocks_the_interpreter_in_c(workspace: Path) -> None:
    order = signal.SIGTERM
    # No thread runs another line of Python; a shell shows 143.
    (workspace / "hung.py").write_text(
        "def memory(items, vectors):\n"
        "    open('asked', 'w').close()\n"
        "    return sum(range(10**12))\n"
        "memory.needs_vectors = False\n"
    )
    with started(workspace, "--store", "python:hung:memory", env={"PYTHONPATH": str(workspace)}) as process:
        wait_until(process, (workspace / "asked").exists)
        time.sleep(0.5)  # from the file to the sum
        sent = time.monotonic()
        process.send_signal(order)
        _, printed = process.communicate(timeout=60)
        assert time.monotonic() - sent < BOUND
    assert process.returncode == -order
    assert "by force" in printed
    assert [path for path in workspace.rglob("*") if path.parent.name == "results"] == []


def test_a_full_output_pipe_does_not_delay_the_end() -> None:
    together(partial(full_pipe, 1, signal.SIGHUP), partial(full_pipe, 2, signal.SIGTERM))


def full_pipe(number: int, order: signal.Signals, workspace: Path) -> None:
    # Nobody reads the output, so its pipe fills up and every write waits.
    (workspace / "chatty.py").write_text(
        "import os\n"
        "def memory(items, vectors):\n"
        "    open('asked', 'w').close()\n"
        "    while True:\n"
        f"        os.write({number}, b'words ' * 1000)\n"
        "memory.needs_vectors = False\n"
    )
    with started(workspace, "--store", "python:chatty:memory", env={"PYTHONPATH": str(workspace)}) as process:
        wait_until(process, (workspace / "asked").exists)
        time.sleep(0.5)
        process.send_signal(order)
        assert process.wait(BOUND) == 130


def test_a_killed_run_leaves_no_process(workspace: Path) -> None:
    (workspace / "hung.py").write_text(SWALLOWS)
    with started(workspace, "--store", "python:hung:memory", env={"PYTHONPATH": str(workspace)}) as process:
        wait_until(process, (workspace / "asked").exists)
        assert len(children(process.pid)) == 1
        process.kill()
        # Its children share its stderr, which closes with the last of them.
        process.communicate(timeout=BOUND)
