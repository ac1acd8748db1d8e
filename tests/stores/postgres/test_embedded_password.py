"""The embedded server answers to the process that started it, and to no other of the same user."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from commandline import environment
from recallbench.confidential import concealed
from recallbench.stores.postgres.binaries import find_install
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.postgres.postgres import redacted
from stores.postgres.server_users import NOBODY, as_root

STRANGER = """
import os, sys
import psycopg
if len(sys.argv) > 2:
    os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
try:
    psycopg.connect(sys.argv[1]).close()
    print("came in")
except psycopg.OperationalError as error:
    print(str(error).strip().split("FATAL:  ")[-1].split("failed: ")[-1])
"""
KNOWN = "Known-to-the-test-7"
RUN = f"""
import sys
from recallbench.stores.postgres import embedded
embedded.new_password = lambda: "{KNOWN}"
from recallbench.__main__ import run
sys.argv = ["recallbench", "run", "canary-locomo", "--store", "pgvector", "--embedder", "hash", "--out", "results"]
run()
"""


@pytest.fixture(scope="module")
def server():
    with EmbeddedServer() as running:
        yield running


def as_stranger(dsn: str, *uid: str) -> str:
    """What another process gets to hear that connects with all that it can know."""
    # Its own surroundings: no variable of this process gives it a password.
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    done = subprocess.run(
        [sys.executable, "-c", STRANGER, dsn, *uid], capture_output=True, text=True, env=surroundings, check=True
    )
    return done.stdout.strip()


def without_password(dsn: str) -> str:
    return make_conninfo("", **{name: value for name, value in conninfo_to_dict(dsn).items() if name != "password"})


def test_another_process_of_the_same_user_is_refused(server: EmbeddedServer) -> None:
    known = without_password(server.dsn)
    assert as_stranger(server.dsn) == "came in"
    assert as_stranger(known) == "fe_sendauth: no password supplied"
    for role in ("recallbench", "postgres", "root", "nobody"):
        guessed = make_conninfo(known, user=role, password="a guess")
        assert as_stranger(guessed) == f'password authentication failed for user "{role}"'


@as_root
def test_a_process_of_the_servers_own_user_is_refused(server: EmbeddedServer) -> None:
    assert as_stranger(server.dsn, str(NOBODY)) == "came in"
    assert as_stranger(without_password(server.dsn), str(NOBODY)) == "fe_sendauth: no password supplied"


def test_every_way_in_wants_the_password(server: EmbeddedServer) -> None:
    with psycopg.connect(server.dsn) as connection:
        rows = connection.execute("SELECT DISTINCT type, auth_method FROM pg_hba_file_rules ORDER BY 1").fetchall()
    assert rows == [("host", "scram-sha-256"), ("local", "scram-sha-256")]


def test_each_server_has_a_password_of_its_own(server: EmbeddedServer) -> None:
    with EmbeddedServer() as other:
        words = [str(conninfo_to_dict(running.dsn)["password"]) for running in (server, other)]
        crossed = make_conninfo(other.dsn, password=words[0])
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(crossed)
    assert words[0] != words[1]
    assert [len(word) for word in words] == [24, 24]


def test_the_password_lies_nowhere_on_disk_and_in_no_command(server: EmbeddedServer) -> None:
    secret = str(conninfo_to_dict(server.dsn)["password"])
    assert server.folder is not None
    files = [path for path in server.folder.rglob("*") if path.is_file()]
    assert len(files) > 100
    assert [path for path in files if secret.encode() in path.read_bytes()] == []
    for told in ("cmdline", "environ"):
        assert secret.encode() not in Path(f"/proc/{server.pid}/{told}").read_bytes()


def test_it_is_a_secret_from_the_first_moment(server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "password" not in redacted(server.dsn)
    monkeypatch.setattr("recallbench.stores.postgres.embedded.new_password", lambda: KNOWN)
    with EmbeddedServer():
        pass  # nobody has connected yet
    assert concealed(f"it said {KNOWN} again") == "it said *** again"


def test_a_run_leaves_it_out_of_folder_and_output(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=environment(tmp_path),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    written = [path for path in (tmp_path / "results").rglob("*") if path.is_file()]
    assert len(written) > 8
    assert [path.name for path in written if KNOWN.encode() in path.read_bytes()] == []
    assert KNOWN not in done.stdout + done.stderr


def test_psql_gets_in_with_the_address_and_not_without_the_password(server: EmbeddedServer) -> None:
    psql = find_install().bin / "psql"
    if not psql.exists():
        pytest.skip("this Postgres comes without psql")

    def asked(dsn: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [psql, "--no-password", "--tuples-only", "--no-align", "--command", "SELECT current_user", dsn],
            capture_output=True,
            text=True,
            check=False,
        )

    assert asked(server.dsn).stdout == "recallbench\n"
    refused = asked(without_password(server.dsn))
    assert (refused.returncode, "no password supplied" in refused.stderr) == (2, True)
