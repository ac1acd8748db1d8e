"""The shipped Bolt server ends cleanly on either signal."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bolt import PASSWORD, SERVER, SHORT_LIVED, free_ports
from stages import sampled


@pytest.mark.skipif(importlib.util.find_spec("arcadedb_embedded") is None, reason="arcadedb-embedded is not installed")
@pytest.mark.parametrize("order", sampled([signal.SIGTERM, signal.SIGINT]))
def test_the_server_stops_cleanly_on_a_signal(tmp_path: Path, order: signal.Signals) -> None:
    (port,) = free_ports(1)
    process = subprocess.Popen(
        [sys.executable, SERVER, "--port", str(port)],
        cwd=tmp_path,
        env=os.environ | SHORT_LIVED | {"NEO4J_PASSWORD": PASSWORD, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert any("NEO4J_URI=" in line for line in process.stdout)
        process.send_signal(order)
        printed, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert "ArcadeDB Server is down" in printed
    assert "fatal error" not in printed
    assert "Traceback" not in printed
    assert list(tmp_path.iterdir()) == []  # neither its data nor a crash report
