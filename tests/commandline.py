"""The real command line, in a real process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PRIVATE = (
    "PGMNEMO_DSN",
    "LOCOMO_DATA_DIR",
    "LONGMEMEVAL_DATA_DIR",
    "RECALLBENCH_DATA_DIR",
    "PYTHONHASHSEED",
    "HF_ENDPOINT",
    "HF_HOME",
)
"""Variables of whoever runs the tests that must not reach the commands under test."""


def recallbench(
    *arguments: str | Path,
    cwd: Path,
    env: dict[str, str] | None = None,
    program: tuple[str, ...] = ("-m", "recallbench"),
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; what it printed is shown when an assertion on it fails."""
    done = subprocess.run(
        [sys.executable, *program, *map(str, arguments)],
        cwd=cwd,
        env=environment(cwd, env),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    print(f"$ recallbench {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}[exit {done.returncode}]")
    assert "Traceback" not in done.stderr
    assert "defect of RecallBench" not in done.stderr
    return done


def environment(cwd: Path, more: dict[str, str] | None = None) -> dict[str, str]:
    """The environment of a user with nothing set up, whose caches lie inside `cwd`; the hub can't be reached."""
    kept = {name: value for name, value in os.environ.items() if name not in PRIVATE}
    kept |= {
        "RECALLBENCH_CACHE_DIR": str(cwd / "cache"),
        "XDG_DATA_HOME": str(cwd / "share"),
        "HF_HOME": str(cwd / "hf"),
        "HF_HUB_OFFLINE": "1",
    }
    return kept | (more or {})
