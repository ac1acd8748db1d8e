from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from recallbench.errors import Blocked
from recallbench.stores.postgres.binaries import Install, find_install, readable_by
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.postgres.folders import LONGEST_SOCKET, can_hold_server, server_places
from stages import sampled
from stores.postgres.server_users import NOBODY, as_root


def users_and_modes() -> tuple[str, dict[str, int]]:
    install = find_install().bin
    watched = [*install.parents, *(parent for folder in server_places() for parent in (folder, *folder.parents))]
    return Path("/etc/passwd").read_text(), {str(path): path.stat().st_mode for path in watched}


def test_it_starts_serves_and_leaves_nothing() -> None:
    before = users_and_modes()
    with EmbeddedServer() as other, EmbeddedServer() as server:
        folder = server.folder
        assert folder is not None
        assert server.dsn != other.dsn
        psycopg.connect(other.dsn).close()
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
        if os.geteuid() == 0:
            assert Path(f"/proc/{server.pid}").stat().st_uid == NOBODY
            assert (folder / "run").stat().st_uid == NOBODY
            assert folder.stat().st_uid == 0
            assert stat.S_IMODE(folder.stat().st_mode) == 0o711
            assert not (folder / "install").exists()
        other.stop()
        other.stop()
    assert not folder.exists()
    assert (server.pid, other.pid) == (0, 0)
    assert users_and_modes() == before


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
                facts = f"{Path(f'/proc/{server.pid}').stat().st_uid} {mode:o} {server.folder.parent}"
            os.write(writing, facts.encode())
        except BaseException as error:  # noqa: BLE001 (the parent must hear of everything)
            os.write(writing, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as reader:
        assert reader.read() == f"{NOBODY} 700 {home}"
    assert list(home.iterdir()) == []


def test_with_a_password_it_is_an_ordinary_server(tcp_dsn: str) -> None:
    parts = conninfo_to_dict(tcp_dsn)
    assert parts["host"] == "127.0.0.1"
    with psycopg.connect(tcp_dsn) as connection:
        rows = connection.execute("SELECT DISTINCT auth_method FROM pg_hba_file_rules").fetchall()
        row = connection.execute("SHOW listen_addresses").fetchone()
    assert rows == [("scram-sha-256",)]
    assert row == ("127.0.0.1",)


def test_stopping_twice_without_a_start_is_no_error() -> None:
    server = EmbeddedServer()
    server.stop()
    server.stop()


def test_a_path_too_long_for_a_socket_is_passed_over(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 40)
    deep.mkdir(parents=True)
    assert not can_hold_server(deep, os.geteuid())
    assert can_hold_server(Path("/tmp"), os.geteuid())


def test_without_a_place_for_its_folder_the_server_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recallbench.stores.postgres.folders.server_places", lambda: (tmp_path / ("x" * 100),))
    with pytest.raises(Blocked, match="no temporary folder") as caught, EmbeddedServer():
        pass
    assert "TMPDIR" in caught.value.remedy


NO_SHARED_MEMORY = 'could not resize shared memory segment "/PostgreSQL.7" to 8 bytes: No space left on device'


@pytest.mark.parametrize(
    ("broken", "does", "complaint", "remedy"),
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
def test_the_failure_of_a_program_is_reported(
    broken: str, does: str, complaint: str, remedy: str, private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private.chmod(0o755)
    folder = private / "t"
    folder.mkdir()
    monkeypatch.setattr("recallbench.stores.postgres.folders.server_places", lambda: (folder,))
    install = Install(private / "bin", private / "share", private, None)
    install.bin.mkdir()
    install.share.mkdir()
    (install.share / "postgres.bki").touch()
    for name in ("initdb", "postgres"):
        program = install.bin / name
        program.write_text(f"#!/bin/sh\n{does if name == broken else 'exit 0'}\n")
        program.chmod(0o755)
    with pytest.raises(Blocked, match="embedded Postgres") as caught:
        _start(install)
    assert complaint in caught.value.found
    assert remedy in caught.value.remedy
    assert os.listdir(folder) == []


@pytest.mark.parametrize("word", sampled(["unrecognized", "invalid"]))
def test_an_initdb_before_postgres_16_is_called_without_its_newer_options(word: str, private: Path) -> None:
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
