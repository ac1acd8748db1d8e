"""The server of examples/http_memory.py, started as its users do."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVER = Path(__file__).resolve().parents[1] / "examples" / "http_memory.py"


@contextmanager
def example_server(*options: str) -> Iterator[str]:
    """Serve on a free port of the loopback interface, and yield the address; after the block it has ended well."""
    process = subprocess.Popen(
        [sys.executable, SERVER, "--port", "0", *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
        process.stdout.close()
