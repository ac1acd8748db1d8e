from __future__ import annotations

import gc
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from commandline import environment, recallbench
from recallbench.errors import Blocked
from recallbench.stores.postgres.binaries import Install, find_install, readable_by
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.postgres.folders import DATA, LONGEST_SOCKET, PREFIX, ServerFolder, open_to, places, sweep
from recallbench.stores.postgres.processes import birth, children, end
from recallbench.stores.postgres.shared_memory import shared_memory

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

NOBODY = pwd.getpwnam("nobody").pw_uid
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root hands the server to another user")


@pytest.fixture
def private() -> Iterator[Path]:
    """A folder nobody else can enter, as a home often is."""
    folder = Path(tempfile.mkdtemp(prefix="recallbench-test-"))
    folder.chmod(0o700)
    yield folder
    shutil.rmtree(folder)


def users_and_modes() -> tuple[str, dict[str, int]]:
    install = find_install().bin
    watched = [*install.parents, *(parent for place in places() for parent in (place, *place.parents))]
    return Path("/etc/passwd").read_text(), {str(path): path.stat().st_mode for path in watched}


def test_it_starts_serves_and_leaves_nothing() -> None:
    before = users_and_modes()
    with EmbeddedServer() as server:
        folder = server.folder
        assert folder is not None
        parts = conninfo_to_dict(server.dsn)
        socket = Path(str(parts["host"])) / ".s.PGSQL.5432"
        assert stat.S_ISSOCK(socket.stat().st_mode)
        assert len(os.fsencode(socket)) <= LONGEST_SOCKET
        assert stat.S_IMODE((folder / "run").stat().st_mode) == 0o700
        with psycopg.connect(server.dsn) as connection:
            shown = {
                name: connection.execute(f"SHOW {name}".encode()).fetchone()
                for name in ("listen_addresses", "server_encoding", "fsync", "TimeZone")
            }
        assert shown == {
            "listen_addresses": ("",),
            "server_encoding": ("UTF8",),
            "fsync": ("off",),
            "TimeZone": ("UTC",),
        }
    assert not folder.exists()
    assert server.pid == 0
    assert users_and_modes() == before


@as_root
def test_as_root_the_server_is_nobodys() -> None:
    with EmbeddedServer() as server:
        assert server.folder is not None
        assert Path(f"/proc/{server.pid}").stat().st_uid == NOBODY
        assert (server.folder / "run").stat().st_uid == NOBODY
        assert server.folder.stat().st_uid == 0
        assert stat.S_IMODE(server.folder.stat().st_mode) == 0o711
        assert not (server.folder / "install").exists()


@as_root
def test_programs_that_nobody_can_reach_are_copied(private: Path) -> None:
    hidden = find_install().copied_to(private / "venv")
    assert not readable_by(hidden.bin / "postgres", NOBODY, NOBODY)
    assert readable_by(hidden.bin / "postgres", 0, 0)
    with EmbeddedServer(install=hidden) as server:
        assert server.folder is not None
        program = os.readlink(f"/proc/{server.pid}/exe")
        assert program.startswith(str(server.folder / "install"))
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
    assert stat.S_IMODE(private.stat().st_mode) == 0o700


@as_root
def test_as_an_ordinary_user_it_runs_as_that_user(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = private / "home"
    home.mkdir(mode=0o700)
    private.chmod(0o755)
    shutil.chown(home, NOBODY)
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    reading, writing = os.pipe()
    # Forked, not started anew: this Python may lie where an ordinary user can't reach it.
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            with EmbeddedServer() as server:
                assert server.folder is not None
                mode = stat.S_IMODE(server.folder.stat().st_mode)
                told = f"{Path(f'/proc/{server.pid}').stat().st_uid} {mode:o} {server.folder.parent}"
            os.write(writing, told.encode())
        except BaseException as error:  # noqa: BLE001 (the parent must hear of everything)
            os.write(writing, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as said:
        assert said.read() == f"{NOBODY} 700 {home}"
    assert list(home.iterdir()) == []


def test_with_a_password_it_is_an_ordinary_server(tcp_dsn: str) -> None:
    parts = conninfo_to_dict(tcp_dsn)
    assert parts["host"] == "127.0.0.1"
    with psycopg.connect(tcp_dsn) as connection:
        rows = connection.execute("SELECT DISTINCT auth_method FROM pg_hba_file_rules").fetchall()
        row = connection.execute("SHOW listen_addresses").fetchone()
    assert rows == [("scram-sha-256",)]
    assert row == ("127.0.0.1",)


def test_two_at_once() -> None:
    with EmbeddedServer() as first, EmbeddedServer() as second:
        assert first.dsn != second.dsn
        for server in (first, second):
            psycopg.connect(server.dsn).close()


def test_stopping_twice_and_without_a_start() -> None:
    server = EmbeddedServer()
    server.stop()
    server.stop()
    with EmbeddedServer() as started:
        started.stop()
        started.stop()


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
    # What was under way was waited for, else it would go on in a folder that is gone, and make it again.
    assert (private / "made").exists()
    assert not Path(folder).exists()


@pytest.mark.marked
def test_whenever_ctrl_c_comes_the_stop_is_not_kept_waiting(run_python) -> None:
    told, _ = run_python(INTERRUPT).communicate(timeout=60)
    assert int(told) > 1300


def test_nothing_is_imported_in_the_background(run_python) -> None:
    # A Ctrl-C that meets an import in the main thread can leave the import lock taken, and the start would wait for it.
    told, _ = run_python(IMPORTS).communicate(timeout=60)
    assert told == "True []\n"


@pytest.mark.marked
@pytest.mark.parametrize("moment", ["run", "run/data/postmaster.pid"])
@pytest.mark.parametrize("order", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_told_to_end_leaves_no_server(private: Path, order: signal.Signals, moment: str) -> None:
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
    _, told = process.communicate(timeout=60)
    assert (process.returncode, "interrupted" in told, "Traceback" in told) == (130, True, False)
    assert list(private.glob(f"{PREFIX}*")) == []
    assert not (private / "result").exists()
    commands = [_command(entry) for entry in Path("/proc").glob("[0-9]*")]
    assert [one for one in commands if str(private) in one] == []


def test_a_stop_that_is_interrupted_is_made_good(monkeypatch: pytest.MonkeyPatch) -> None:
    server = EmbeddedServer()
    server.dsn  # noqa: B018
    folder, pid = server.folder, server.pid
    assert folder is not None

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("recallbench.stores.postgres.embedded.end", interrupted)
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
    kept, other = living.stdout.readline().split()
    killed.kill()
    killed.wait()
    assert Path(left).exists()
    assert birth(int(orphan)) != ""
    with EmbeddedServer() as server:
        assert server.pid
        assert not Path(left).exists()
        assert _gone(int(orphan))
        assert Path(kept).exists()
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
    assert (key, memory) in {(one.key, one.id) for one in shared_memory()}
    # Any run will do, of a store that needs no server too.
    recallbench("run", "canary-locomo", "--store", "bm25", "--folder", "result", cwd=tmp_path)
    assert not Path(folder).exists()
    assert memory not in {one.id for one in shared_memory()}


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


def test_killed_while_it_removes_its_folder(run_python) -> None:
    run = run_python(REMOVAL)
    folder = Path(run.stdout.readline().strip())
    assert run.wait(60) == -signal.SIGKILL
    assert sum(path.is_file() for path in folder.rglob("*")) > 300
    sweep([folder.parent])
    # Told by what is there: any other run on this machine may have been quicker.
    assert not folder.exists()


@pytest.mark.parametrize("program", ["initdb", "postgres"])
def test_killed_before_it_knew_its_server(run_python, program: str) -> None:
    # The number of the process was not written down yet, and it goes on.
    started = f"""
import os, signal, subprocess
from recallbench.stores.postgres.embedded import EmbeddedServer
class Popen(subprocess.Popen):
    def __init__(self, command, **named):
        super().__init__(command, **named)
        if command[0].endswith("/{program}"):
            os.kill(os.getpid(), signal.SIGKILL)
subprocess.Popen = Popen
server = EmbeddedServer()
server.begin()
while not server.folder:
    pass
print(server.folder, flush=True)
server.dsn
"""
    run = run_python(started)
    folder = Path(run.stdout.readline().strip())
    assert run.wait(60) == -signal.SIGKILL
    sweep([folder.parent])
    time.sleep(0.1)
    assert not folder.exists()
    assert [one for one in Path("/proc").glob("[0-9]*") if str(folder) in _command(one)] == []


def test_only_a_dead_owners_folder_of_ours_is_swept(
    tmp_path: Path, private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recallbench.stores.postgres.folders.places", lambda: (private,))
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
        end(process.pid, "1")
        end(process.pid, "")
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def test_a_path_too_long_for_a_socket_is_passed_over(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 40)
    deep.mkdir(parents=True)
    assert not open_to(deep, os.geteuid())
    assert open_to(Path("/tmp"), os.geteuid())


def test_no_place_for_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recallbench.stores.postgres.folders.places", lambda: (tmp_path / ("x" * 100),))
    with pytest.raises(Blocked, match="no temporary folder") as caught, EmbeddedServer():
        pass
    assert "TMPDIR" in caught.value.remedy


NO_SHARED_MEMORY = 'could not resize shared memory segment "/PostgreSQL.7" to 8 bytes: No space left on device'


@pytest.mark.parametrize(
    ("broken", "does", "found", "remedy"),
    [
        ("initdb", "echo out of order >&2; exit 7", "out of order", "name a server"),
        (
            "postgres",
            "echo out of order >&2; exit 7",
            "exit code 7; the last lines of its log:\nout of",
            "name a server",
        ),
        ("postgres", "kill -9 $$", "it was killed (SIGKILL); its log is empty", "name a server"),
        ("initdb", f"echo '{NO_SHARED_MEMORY}' >&2; exit 1", NO_SHARED_MEMORY, "make room in /dev/shm"),
        ("postgres", f"echo '{NO_SHARED_MEMORY}' >&2; exit 1", NO_SHARED_MEMORY, "make room in /dev/shm"),
        ("initdb", "echo 'disk: No space left on device' >&2; exit 1", "No space left", "with TMPDIR"),
    ],
)
def test_programs_that_fail_are_told(
    broken: str, does: str, found: str, remedy: str, private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private.chmod(0o755)
    place = private / "t"
    place.mkdir()
    monkeypatch.setattr("recallbench.stores.postgres.folders.places", lambda: (place,))
    install = find_install().copied_to(private / "install")
    when = "listen_addresses" if broken == "postgres" else ""
    real = install.bin / broken
    real.rename(install.bin / f"{broken}.real")
    # initdb starts the server's program too, for its own ends.
    real.write_text(f'#!/bin/sh\ncase "$*" in *{when}*) {does};; esac\nexec "$0.real" "$@"\n')
    real.chmod(0o755)
    with pytest.raises(Blocked, match="embedded Postgres") as caught:
        _start(install)
    assert found in caught.value.found
    assert remedy in caught.value.remedy
    assert os.listdir(place) == []


@pytest.mark.parametrize("word", ["unrecognized", "invalid"])
def test_an_initdb_before_postgres_16(word: str, private: Path) -> None:
    private.chmod(0o755)
    install = find_install().copied_to(private / "install")
    real = install.bin / "initdb"
    real.rename(install.bin / "initdb.real")
    # It knows no option -c.
    real.write_text(
        f'#!/bin/sh\ncase "$*" in *" -c "*) echo "initdb: {word} option" >&2; exit 1;; esac\nexec "$0.real" "$@"\n'
    )
    real.chmod(0o755)
    with EmbeddedServer(install=install) as server:
        assert server.pid


def _start(install: Install) -> None:
    with EmbeddedServer(install=install):
        pass


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
