"""What was measured once, for all tests of exports; and a database of its own for each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from exports import measured
from recallbench.stores.postgres.embedded import EmbeddedServer

PASSWORD = "it's a p@ss/word"
_numbers = count(1)


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all that was measured; no test writes into it."""
    return measured.measure(tmp_path_factory.mktemp("measured"))


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The DSN of a real server with a password."""
    with EmbeddedServer(password=PASSWORD) as running:
        yield running.dsn


@pytest.fixture
def dsn(server: str) -> str:
    """The DSN of a database of this test alone."""
    name = f"history{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return make_conninfo(server, dbname=name)
