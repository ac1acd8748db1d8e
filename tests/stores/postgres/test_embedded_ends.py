"""Nothing is left of an embedded server, whatever ends it or its owner."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commandline import environment, recallbench
from recallbench.stores.postgres.binaries import Install, find_install
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.postgres.folders import DATA, PREFIX, ServerFolder, sweep
from recallbench.stores.postgres.processes import birth, children, end_server
from recallbench.stores.postgres.shared_memory import shared_memory
from stores.postgres.server_users import NOBODY, as_root

SERVE = """
from recallbench.stores.postgres.embedded import EmbeddedServer
server = EmbeddedServer()
server.dsn
print(server.folder, server.pid, flush=True)
input()
"""
BEGIN = """
import sys, time
from pathlib import Path
from recallbench.stores.postgres.binaries import Install
from recallbench.stores.postgres.embedded import EmbeddedServer
paths = [Path(path) if path else None for path in sys.argv[1:]]
server = EmbeddedServer(install=Install(*paths))
server.begin()
while not server.folder:
    time.sleep(0.001)
print(server.folder, flush=True)
server.dsn
"""
INTERRUPT = """
import random, signal, time
from recallbench.stores.postgres.embedded import EmbeddedServer
def interrupted(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupted)
EmbeddedServer._started = lambda self, install: time.sleep(0.001)
caught, chance = 0, random.Random(42)
for _ in range(2000):
    server = EmbeddedServer()
    try:
        server.begin()
        signal.setitimer(signal.ITIMER_REAL, 1e-6 + 30e-6 * chance.random())
        server.dsn
        time.sleep(0.001)
    except KeyboardInterrupt:
        caught += 1
    server.stop()
print(caught)
"""
IMPORTS = """
import sys, threading
from recallbench.stores.postgres.embedded import EmbeddedServer
class Watch:
    found = []
    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is not threading.main_thread():
            self.found.append(name)
sys.meta_path.insert(0, Watch())
with EmbeddedServer() as server:
    print(bool(server.pid), Watch.found)
"""


def test_an_end_without_stop_leaves_nothing(run_python) -> None:
    process = run_python(SERVE)
    folder, pid = process.stdout.readline().split()
    process.communicate("\n")
    assert not Path(folder).exists()
    assert birth(int(pid)) == ""


def test_ctrl_c_reaches_us_and_not_the_server(run_python) -> None:
    process = run_python(SERVE)
    folder, pid = process.stdout.readline().split()
    assert os.getsid(int(pid)) == int(pid)
    process.send_signal(signal.SIGINT)
    process.wait(60)
    assert not Path(folder).exists()


@pytest.mark.marked
def test_ctrl_c_while_it_starts_leaves_nothing(run_python, private: Path) -> None:
    private.chmod(0o777)
    install = find_install().copied_to(private / "install")
    quick = install.bin / "initdb"
    quick.rename(install.bin / "initdb.quick")
    quick.write_text(f'#!/bin/sh\nsleep 1\n"$0.quick" "$@"\ncode=$?\ntouch {private}/made\nexit $code\n')
    quick.chmod(0o755)
    process = run_python(BEGIN, *(str(path or "") for path in (*_paths(install), install.libraries)))
    folder = process.stdout.readline().strip()
    process.send_signal(signal.SIGINT)
    process.wait(60)
    # The program under way is waited for: else it would go on, and make its folder again.
    assert (private / "made").exists()
    assert not Path(folder).exists()


@pytest.mark.marked
def test_ctrl_c_at_any_moment_does_not_delay_the_stop(run_python) -> None:
    printed, _ = run_python(INTERRUPT).communicate(timeout=60)
    assert int(printed) > 1300


def test_nothing_is_imported_in_the_background(run_python) -> None:
    # A Ctrl-C that meets an import in the main thread can leave the import lock taken, and the start would wait for it.
    printed, _ = run_python(IMPORTS).communicate(timeout=60)
    assert printed == "True []\n"


@pytest.mark.marked
@pytest.mark.parametrize("moment", ["run", "run/data/postmaster.pid"])
@pytest.mark.parametrize("order", [signal.SIGTERM, signal.SIGINT])
def test_a_run_ended_by_a_signal_leaves_no_server(private: Path, order: signal.Signals, moment: str) -> None:
    private.chmod(0o755)
    command = ["-m", "recallbench", "run", "canary-locomo", "--store", "pgvector", "--embedder", "hash"]
    process = subprocess.Popen(
        [sys.executable, *command, "--folder", str(private / "result")],
        cwd=private,
        env=environment(private, {"TMPDIR": str(private), "PYTHONHASHSEED": "42"}),
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(private.glob(f"{PREFIX}*/{moment}")):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.001)
    process.send_signal(order)
    _, message = process.communicate(timeout=60)
    assert (process.returncode, "interrupted" in message, "Traceback" in message) == (130, True, False)
    assert list(private.glob(f"{PREFIX}*")) == []
    assert not (private / "result").exists()
    commands = [_command(entry) for entry in Path("/proc").glob("[0-9]*")]
    assert [command for command in commands if str(private) in command] == []


def test_an_interrupted_stop_is_finished_when_the_server_is_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    server = EmbeddedServer()
    server.dsn  # noqa: B018
    folder, pid = server.folder, server.pid
    assert folder is not None

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("recallbench.stores.postgres.embedded.end_server", interrupted)
        with pytest.raises(KeyboardInterrupt):
            server.stop()
    assert birth(pid) != ""
    del server
    gc.collect()
    assert not folder.exists()
    assert birth(pid) == ""


def test_after_a_kill_the_next_start_cleans_up(run_python) -> None:
    killed, living = run_python(SERVE), run_python(SERVE)
    left, orphan = killed.stdout.readline().split()
    served, other = living.stdout.readline().split()
    killed.kill()
    killed.wait()
    assert Path(left).exists()
    assert birth(int(orphan)) != ""
    with EmbeddedServer() as server:
        assert server.pid
        assert not Path(left).exists()
        assert _gone(int(orphan))
        assert Path(served).exists()
        assert birth(int(other)) != ""


def test_a_killed_tree_of_processes_leaves_nothing_behind_the_next_run(run_python, tmp_path: Path) -> None:
    run = run_python(SERVE)
    folder, server = run.stdout.readline().split()
    family = [int(server), *children(int(server))]
    assert len(family) > 3
    key, memory = map(int, (Path(folder) / DATA / "postmaster.pid").read_text().splitlines()[6].split())
    run.kill()
    for pid in family:
        os.kill(pid, signal.SIGKILL)
    run.wait()
    assert (key, memory) in {(segment.key, segment.id) for segment in shared_memory()}
    # Any run will do, of a store that needs no server too.
    recallbench("run", "canary-locomo", "--store", "bm25", "--folder", "result", cwd=tmp_path)
    assert not Path(folder).exists()
    assert memory not in {segment.id for segment in shared_memory()}


REMOVAL = """
import os, signal, sys
from recallbench.stores.postgres.embedded import EmbeddedServer
server = EmbeddedServer()
server.dsn
print(server.folder, flush=True)
removed, real = 0, os.unlink
def unlink(*given, **named):
    global removed
    removed += 1
    if removed == 300:
        os.kill(os.getpid(), signal.SIGKILL)
    real(*given, **named)
os.unlink = unlink
server.stop()
"""


def test_a_folder_half_removed_by_a_killed_owner_is_swept(run_python) -> None:
    run = run_python(REMOVAL)
    folder = Path(run.stdout.readline().strip())
    assert run.wait(60) == -signal.SIGKILL
    assert sum(path.is_file() for path in folder.rglob("*")) > 300
    deadline = time.monotonic() + 20
    while folder.exists() and time.monotonic() < deadline:
        sweep([folder.parent])  # another run on this machine may be at it already
        time.sleep(0.1)
    assert not folder.exists()


@pytest.mark.parametrize("program", ["initdb", "postgres"])
def test_a_server_unknown_to_its_killed_owner_is_swept(run_python, program: str) -> None:
    # The number of the process was not written down yet, and it goes on.
    started = f"""
import os, signal, subprocess
from recallbench.stores.postgres.embedded import EmbeddedServer
class Popen(subprocess.Popen):
    def __init__(self, command, **named):
        super().__init__(command, **named)
        if command[0].endswith("/{program}"):
            print(server.folder, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
subprocess.Popen = Popen
server = EmbeddedServer()
server.dsn
"""
    run = run_python(started)
    folder = Path(run.stdout.readline().strip())
    assert run.wait(60) == -signal.SIGKILL
    sweep([folder.parent])
    time.sleep(0.1)
    assert not folder.exists()
    assert [process for process in Path("/proc").glob("[0-9]*") if str(folder) in _command(process)] == []


def test_only_a_dead_owners_folder_of_ours_is_swept(
    tmp_path: Path, private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recallbench.stores.postgres.folders.server_places", lambda: (private,))
    living = ServerFolder(os.geteuid(), os.getegid())
    lookalike = tmp_path / f"{PREFIX}lookalike"
    lookalike.mkdir()
    (lookalike / "owner").write_text('{"marker": "something else"}')
    unreadable = tmp_path / f"{PREFIX}unreadable"
    unreadable.mkdir()
    (unreadable / "owner").write_text("not json")
    (tmp_path / f"{PREFIX}link").symlink_to(lookalike)
    (tmp_path / "other").mkdir()
    half = tmp_path / f"{PREFIX}half"
    half.mkdir()
    try:
        assert sweep([tmp_path, living.path.parent]) == [half]
        assert living.path.exists()
        assert {path.name for path in tmp_path.iterdir()} == {
            lookalike.name,
            unreadable.name,
            f"{PREFIX}link",
            "other",
        }
    finally:
        living.remove()
    assert not living.path.exists()


@as_root
def test_another_users_folder_is_never_followed(tmp_path: Path) -> None:
    # Whoever can write to a shared temporary folder could name any process there.
    process = subprocess.Popen(["sleep", "60"])
    try:
        trap = tmp_path / f"{PREFIX}trap"
        trap.mkdir()
        born = birth(process.pid)
        (trap / "owner").write_text(
            f'{{"marker": "embedded server of recallbench", "pid": {process.pid}, "born": "{born}"}}'
        )
        shutil.chown(trap, NOBODY)
        assert sweep([tmp_path]) == []
        assert process.poll() is None
        shutil.chown(trap, 0)
        assert sweep([tmp_path]) == [trap]
        assert process.wait(10) == -signal.SIGINT
    finally:
        process.kill()
        process.wait()


def test_a_process_that_took_the_number_is_left_alone() -> None:
    process = subprocess.Popen(["sleep", "60"])
    try:
        end_server(process.pid, "1")
        end_server(process.pid, "")
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def _paths(install: Install) -> tuple[Path, Path, Path]:
    return install.bin, install.share, install.root


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def _gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
