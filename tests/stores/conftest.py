"""One embedded server for all tests of the stores, and one that listens on TCP with a password."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psycopg
import pytest

from recallbench.stores.pgvector.pgvector import PgvectorStore
from recallbench.stores.pgvector.weights import WEIGHTS
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.store import Item, Matrix
from stores.credentials import PASSWORD
from stores.pgvector_corpus import ITEMS, VECTORS
from stores.standin import standin_server


@pytest.fixture(scope="session")
def dsn() -> Iterator[str]:
    with EmbeddedServer() as server:
        yield server.dsn


@pytest.fixture(scope="session")
def tcp_dsn() -> Iterator[str]:
    with EmbeddedServer(password=PASSWORD) as server:
        yield server.dsn


@pytest.fixture(scope="session")
def standin() -> Iterator[str]:
    """A server that offers the stand-ins of the extension pgmnemo."""
    with standin_server() as server:
        yield server.dsn


@pytest.fixture(scope="session")
def published() -> tuple[str, frozenset[str]]:
    """The server of whoever runs the tests, and the versions of the real pgmnemo that it offers."""
    if not (named := os.environ.get("PGMNEMO_DSN")):
        pytest.skip("no server with the extension pgmnemo: set PGMNEMO_DSN")
    with psycopg.connect(named) as connection:
        rows = connection.execute("SELECT version FROM pg_available_extension_versions WHERE name = 'pgmnemo'")
        offered = frozenset(version for (version,) in rows)
        allowed = connection.execute("SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user")
        if allowed.fetchone() != (True,):
            pytest.skip("no server with the extension pgmnemo where databases can be made: see PGMNEMO_DSN")
    if not offered:
        pytest.skip("no server with the extension pgmnemo: the one that PGMNEMO_DSN names offers no version")
    return named, offered


@pytest.fixture
def run_python(tmp_path: Path):
    """Start Python code in a process of its own, its output piped."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def filled(dsn: str) -> Iterator[Callable[..., PgvectorStore]]:
    opened: list[PgvectorStore] = []

    def fill(weights: str | None = None, items: Sequence[Item] = ITEMS, vectors: Matrix = VECTORS) -> PgvectorStore:
        store = PgvectorStore(dsn, WEIGHTS.read({"weights": weights}))
        opened.append(store)
        store.prepare(vectors.shape[1])
        for scope in dict.fromkeys(item.scope for item in items):
            rows = [row for row, item in enumerate(items) if item.scope == scope]
            store.ingest([items[row] for row in rows], vectors[rows])
        store.ready()
        return store

    yield fill
    for store in opened:
        store.close()
