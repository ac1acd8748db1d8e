"""One embedded server for all tests of the stores, and one that listens on TCP with a password."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recallbench.stores.embedded import EmbeddedServer

PASSWORD = "it's a p@ss/word"


@pytest.fixture(scope="session")
def dsn() -> Iterator[str]:
    with EmbeddedServer() as server:
        yield server.dsn


@pytest.fixture(scope="session")
def tcp_dsn() -> Iterator[str]:
    with EmbeddedServer(password=PASSWORD) as server:
        yield server.dsn


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
