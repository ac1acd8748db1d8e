from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from recallbench.errors import Blocked, UsageError
from recallbench.stores.pgvector.pgvector import PgvectorStore
from recallbench.stores.postgres.postgres import (
    connect,
    redacted,
)
from recallbench.stores.registry import store_status
from stores.credentials import PASSWORD


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def error_text(error: BaseException) -> str:
    """Everything of an error that could reach a screen or a file, causes included."""
    text = ""
    cause: BaseException | None = error
    while cause:
        text += f"{cause} {cause!r} "
        cause = cause.__cause__
    return text


@pytest.mark.parametrize(
    ("dsn", "expected"),
    [
        ("postgresql://me:hush@db.example:5433/bench", "user=me dbname=bench host=db.example port=5433"),
        ("postgresql://me@db/bench?password=hush&sslpassword=hush", "user=me dbname=bench host=db"),
        ("host=db password='hu sh' dbname=bench", "host=db dbname=bench"),
        ("host=db password=hush=hush nonsense", "(a DSN that can't be read)"),
        ("postgresql://me:hu/sh@db:x/y", "(a DSN that can't be read)"),
        ("postgresql://me:hu@sh@db/bench", "(a DSN that can't be read)"),
        ("postgresql://me:12/sh@db/bench", "(a DSN that can't be read)"),
        ("host=a,b port=5432,5433 password=hush", "host=a,b port=5432,5433"),
        ("host=db passfile=/home/me/hush sslkey=/home/me/hush service=bench", "host=db service=bench"),
        ("host=db oauth_client_secret=hush scram_client_key=hush", "host=db"),
        ("host=db options=-cstatement_timeout=100ms", "host=db options=-cstatement_timeout=100ms"),
        ("host=db options='-c my.token=hush'", "host=db options=-cmy.token=***"),
        ("host=db options='--my.pin=1234'", "host=db options=-cmy.pin=***"),
        ("host=db options=hush", "host=db options=***"),
        ("postgresql://db/?options=-c%20app.user%3Dhush", "host=db options=-capp.user=***"),
        ("", ""),
    ],
)
def test_a_redacted_dsn_has_no_password(dsn: str, expected: str) -> None:
    if expected.startswith("("):
        assert redacted(dsn) == expected
    else:
        assert sorted(redacted(dsn).split()) == sorted(expected.split())
    assert "hush" not in redacted(dsn)


def test_a_dsn_that_cannot_be_read_is_not_repeated() -> None:
    with pytest.raises(UsageError, match="can't be read") as caught:
        connect("host=db password=hush hushhush")
    assert "hush" not in error_text(caught.value)


def test_a_server_that_is_down_blocks() -> None:
    with pytest.raises(Blocked, match="does not answer") as caught:
        connect(f"postgresql://me:hush@127.0.0.1:{free_port()}/bench")
    assert caught.value.exit_code == 3
    assert "embedded" in caught.value.remedy
    assert "hush" not in error_text(caught.value)


def test_a_socket_folder_without_a_server_blocks(tmp_path: Path) -> None:
    with pytest.raises(Blocked, match="does not answer"):
        connect(make_conninfo("", host=str(tmp_path), dbname="bench"))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"password": "wrong-hush"}, "password authentication failed"),
        ({"password": None}, "password"),
        ({"user": "nobody_here"}, "password authentication failed"),
        ({"dbname": "no_such_database"}, "does not exist"),
    ],
)
def test_a_server_that_refuses_blocks_without_the_password(
    tcp_dsn: str, change: dict[str, str | None], complaint: str
) -> None:
    parts = {name: value for name, value in (conninfo_to_dict(tcp_dsn) | change).items() if value is not None}
    with pytest.raises(Blocked) as caught:
        connect(make_conninfo("", **parts))
    assert complaint in caught.value.found
    assert "hush" not in error_text(caught.value)
    assert PASSWORD not in error_text(caught.value)


@contextmanager
def server_that_repeats_passwords() -> Iterator[int]:
    """Asks for the password in clear text, and refuses it in its own words; its port."""

    def serve() -> None:
        with contextlib.suppress(OSError, struct.error):
            while True:
                with listener.accept()[0] as session, contextlib.suppress(OSError, struct.error):
                    while True:
                        body = session.recv(struct.unpack(">i", session.recv(4))[0] - 4)
                        if struct.unpack(">i", body[:4])[0] == 196608:
                            break
                        session.sendall(b"N")  # no encryption here
                    session.sendall(b"R" + struct.pack(">ii", 8, 3))
                    session.recv(1)
                    password = session.recv(struct.unpack(">i", session.recv(4))[0] - 4).rstrip(b"\0")
                    message = b"SFATAL\0C28P01\0Mno entry with " + password + b" here\0\0"
                    session.sendall(b"E" + struct.pack(">i", len(message) + 4) + message)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]


@pytest.mark.parametrize("way", ["passfile", "PGPASSFILE", "service", "PGPASSWORD"])
def test_a_password_that_the_server_repeats_is_not_repeated(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server_that_repeats_passwords() as port:
        dsn = f"host=127.0.0.1 port={port} user=joe dbname=d"
        (tmp_path / "passwords").write_text("*:*:*:joe:hu/sh-1\n")
        (tmp_path / "passwords").chmod(0o600)
        (tmp_path / "services").write_text(f"[s]\nhost=127.0.0.1\nport={port}\nuser=joe\ndbname=d\npassword=hu/sh-1\n")
        if way == "passfile":
            dsn += f" passfile={tmp_path / 'passwords'}"
        elif way == "PGPASSFILE":
            monkeypatch.setenv("PGPASSFILE", str(tmp_path / "passwords"))
        elif way == "service":
            monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
            dsn = "service=s"
        else:
            monkeypatch.setenv("PGPASSWORD", "hu/sh-1")
        with pytest.raises(Blocked, match=r"no entry with \*\*\* here") as caught:
            connect(dsn)
        assert "hu/sh" not in error_text(caught.value)


@contextmanager
def server_that_says(version: str) -> Iterator[str]:
    """The opening of a session as any server speaks it, from one that names this version."""

    def message(kind: bytes, body: bytes) -> bytes:
        return kind + struct.pack(">i", len(body) + 4) + body

    parameters = {"server_version": version, "server_encoding": "UTF8", "client_encoding": "UTF8"}
    opening = message(b"R", struct.pack(">i", 0))
    opening += b"".join(message(b"S", f"{name}\0{value}\0".encode()) for name, value in parameters.items())
    opening += message(b"K", struct.pack(">ii", 1, 1)) + message(b"Z", b"I")
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        try:
            session, _ = listener.accept()
        except OSError:
            return
        with session:
            while True:
                (size,) = struct.unpack(">i", session.recv(4))
                body = session.recv(size - 4)
                if struct.unpack(">i", body[:4])[0] == 196608:
                    break
                session.sendall(b"N")  # no encryption here
            session.sendall(opening)
            if session.recv(1 << 10):  # a setting of the session, which any version has
                session.sendall(message(b"C", b"SET\0") + message(b"Z", b"I"))
                session.recv(1)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"host=127.0.0.1 port={listener.getsockname()[1]} user=me dbname=bench gssencmode=disable"
    finally:
        listener.close()
        thread.join(5)


def test_a_server_that_is_too_old_blocks() -> None:
    with server_that_says("13.22") as dsn, pytest.raises(Blocked, match="too old") as caught:
        PgvectorStore(dsn).prepare(3)
    assert caught.value.found == "PostgreSQL 13.22"
    assert "PostgreSQL 14 or later with pgvector 0.5.0 or later" in caught.value.expected


def test_doctor_names_a_server_that_is_too_old() -> None:
    with server_that_says("13.22") as dsn:
        status = store_status("pgvector", (dsn,), {})
    assert not status.ready
    assert "13.22" in status.detail
    assert status.remedy
