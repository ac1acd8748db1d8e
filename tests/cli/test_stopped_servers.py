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
from contextlib import contextmanager, suppress
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
SIGNALS = pytest.mark.parametrize("order", [signal.SIGTERM, signal.SIGINT])

SWALLOWS = """
import time
def memory(items, vectors):
    def search(query, k):
        open("asked", "w").close()
        while True:
            try:
                time.sleep(60)
            except BaseException:
                pass
    return search
memory.needs_vectors = False
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that the server's user can reach; everything that a run makes lies in it."""
    with tempfile.TemporaryDirectory(prefix="recallbench-test-", dir="/tmp") as made:
        Path(made).chmod(0o755)
        yield Path(made)


@contextmanager
def started(place: Path, *options: str, env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """A run of a store, which is killed should it still be there in the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "recallbench", "run", "canary-locomo", "--out", "results", *options],
        cwd=place,
        env=environment(place, {"TMPDIR": str(place), "PYTHONHASHSEED": "42", **(env or {})}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def awaited(process: subprocess.Popen[str], there: Callable[[], bool]) -> None:
    """Come back as soon as it is there, while the run is at work."""
    deadline = time.monotonic() + 60
    while not there():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.001)


def ended(process: subprocess.Popen[str], order: signal.Signals) -> str:
    """What the run says when it is sent one signal; it must end in time."""
    sent = time.monotonic()
    process.send_signal(order)
    _, told = process.communicate(timeout=60)
    assert time.monotonic() - sent < BOUND
    assert (process.returncode, "interrupted" in told, "Traceback" in told) == (130, True, False)
    return told


def backends(server: int) -> list[int]:
    """The sessions of clients."""
    return [one for one in children(server) if b"postgres: recallbench " in Path(f"/proc/{one}/cmdline").read_bytes()]


def freeze(server: int) -> dict[int, str]:
    """Stop a server and all that it started, and tell them by number and birth; some may end meanwhile."""
    os.kill(server, signal.SIGSTOP)
    family = {server: birth(server), **children(server)}
    for one in family:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGSTOP)
    return family


@SIGNALS
def test_the_embedded_server(place: Path, order: signal.Signals) -> None:
    found: list[int] = []

    def at_work() -> bool:
        for file in place.glob(f"{PREFIX}*/{DATA}/postmaster.pid"):
            try:
                lines = file.read_text().splitlines()
            except FileNotFoundError:  # between two servers
                continue
            found[:] = [int(lines[0])] if len(lines) > 7 and backends(int(lines[0])) else []
        return bool(found)

    with started(place, "--store", "pgvector", "--embedder", "hash") as process:
        awaited(process, at_work)
        family = freeze(found[0])
        time.sleep(0.5)
        ended(process, order)
    assert [one for one, born in family.items() if born and birth(one) == born] == []
    assert [one for one in shared_memory() if one.creator == found[0]] == []
    assert list(place.glob(f"{PREFIX}*")) == []
    assert [path for path in place.rglob("*") if path.parent.name == "results"] == []


def test_a_server_that_was_named(place: Path) -> None:
    with EmbeddedServer() as server:
        family: dict[int, str] = {}
        try:
            with started(place, "--store", "pgvector", "--embedder", "hash", "--dsn", server.dsn) as process:
                awaited(process, lambda: bool(backends(server.pid)))
                family = freeze(server.pid)
                time.sleep(0.5)
                ended(process, signal.SIGTERM)
        finally:
            for one in family:
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGCONT)
        # It is none of ours: it goes on, and the next run removes what this one left.
        with psycopg.connect(server.dsn) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    assert [path for path in place.rglob("*") if path.parent.name == "results"] == []


@pytest.mark.parametrize("store", ["http", "graph"])
def test_a_server_that_takes_what_it_is_sent_and_says_nothing(place: Path, store: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        options = ["--store", "graph"] if store == "graph" else ["--store", f"http://{address}", "--embedder", "hash"]
        with started(place, *options, env={"NEO4J_URI": f"bolt://{address}"}) as process:
            listening.settimeout(60)
            client, _ = listening.accept()
            with client:
                ended(process, signal.SIGTERM)
    assert [path for path in place.rglob("*") if path.parent.name == "results"] == []


def test_a_function_that_swallows_every_interruption(place: Path) -> None:
    (place / "hung.py").write_text(SWALLOWS)
    env = {"PYTHONPATH": str(place)}
    with started(place, "--store", "python:hung:memory", env=env) as process:
        awaited(process, (place / "asked").exists)
        # Whoever asks twice does not take away the time to end in good order.
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        told = ended(process, signal.SIGINT)
    assert "by force" in told
    assert [path for path in place.rglob("*") if path.parent.name == "results"] == []


def test_a_function_in_c_that_keeps_the_interpreter_to_itself(place: Path) -> None:
    order = signal.SIGTERM
    # No other line of Python runs any more, of no thread: the shell tells it as 143.
    (place / "hung.py").write_text(
        "def memory(items, vectors):\n"
        "    open('asked', 'w').close()\n"
        "    return sum(range(10**12))\n"
        "memory.needs_vectors = False\n"
    )
    with started(place, "--store", "python:hung:memory", env={"PYTHONPATH": str(place)}) as process:
        awaited(process, (place / "asked").exists)
        time.sleep(0.5)  # from the file to the sum
        sent = time.monotonic()
        process.send_signal(order)
        _, told = process.communicate(timeout=60)
        assert time.monotonic() - sent < BOUND
    assert process.returncode == -order
    assert "by force" in told
    assert [path for path in place.rglob("*") if path.parent.name == "results"] == []


@pytest.mark.parametrize(("number", "order"), [(1, signal.SIGHUP), (2, signal.SIGTERM)], ids=["stdout", "stderr"])
def test_a_reader_of_its_words_who_has_stopped(place: Path, number: int, order: signal.Signals) -> None:
    # Nobody reads what it prints, until its pipe is full and every word waits.
    (place / "chatty.py").write_text(
        "import os\n"
        "def memory(items, vectors):\n"
        "    open('asked', 'w').close()\n"
        "    while True:\n"
        f"        os.write({number}, b'words ' * 1000)\n"
        "memory.needs_vectors = False\n"
    )
    with started(place, "--store", "python:chatty:memory", env={"PYTHONPATH": str(place)}) as process:
        awaited(process, (place / "asked").exists)
        time.sleep(0.5)
        process.send_signal(order)
        assert process.wait(BOUND) == 130


def test_nobody_is_left_behind_a_run_that_was_killed_outright(place: Path) -> None:
    (place / "hung.py").write_text(SWALLOWS)
    with started(place, "--store", "python:hung:memory", env={"PYTHONPATH": str(place)}) as process:
        awaited(process, (place / "asked").exists)
        assert len(children(process.pid)) == 1
        process.kill()
        # Whoever it started shares its stderr, which ends with the last of them.
        process.communicate(timeout=BOUND)
