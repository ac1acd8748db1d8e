"""The real Bolt server of the examples in a process of its own: its JVM can't be started twice in one."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

PASSWORD = "It's-a-p@ss/word"
SERVER = Path(__file__).resolve().parents[1] / "examples" / "bolt_server.py"
SHORT_LIVED = {
    "ARCADEDB_JVM_ARGS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -XX:+DisableAttachMechanism"
}
"""Variables of a Java that lives for seconds: it optimises little, and leaves nothing in the temporary folder."""
LONG_LIVED = {name: words.removeprefix("-XX:TieredStopAtLevel=1 ") for name, words in SHORT_LIVED.items()}
"""Those of one that answers thousands of questions, to which optimising is worth it."""


@contextmanager
def bolt_server(folder: Path, java: Mapping[str, str] = SHORT_LIVED) -> Iterator[dict[str, str]]:
    """The variables that name it; skips the test, and says why, where it can't be had."""
    for package in ("arcadedb_embedded", "neo4j"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"no Bolt server: the package {package} is not installed (scripts/setup dev)")
    (bolt,) = free_ports(1)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    process = subprocess.Popen(
        [sys.executable, SERVER, "--port", str(bolt), "--until-eof"],
        cwd=folder,
        env={**environ, **java, "NEO4J_PASSWORD": PASSWORD, "TMPDIR": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=(folder / "stderr.txt").open("w"),
        text=True,
    )
    assert process.stdout is not None
    try:
        # The server's own messages come on the same channel, before and after.
        if not any("NEO4J_URI=" in line for line in process.stdout):
            pytest.fail(f"the Bolt server did not start: {(folder / 'stderr.txt').read_text()[-2000:]}")
        yield {
            "NEO4J_URI": f"bolt://127.0.0.1:{bolt}",
            "NEO4J_USER": "root",
            "NEO4J_PASSWORD": PASSWORD,
            "NEO4J_DATABASE": "mem",
        }
    finally:
        process.kill()
        process.communicate()


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nothing listens on."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in sockets:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in sockets]
