"""The real command line, in a real process.

Most commands are forks of one process that has the libraries loaded (`zygote.py`); where a test looks at the start
itself, or RECALLBENCH_TEST_FRESH is set, each is a new interpreter.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

FRESH = "RECALLBENCH_TEST_FRESH"
SEEDED = ("run", "versions", "repeat", "evaluate", "grow", "latency", "sweep", "matrix")
"""Commands that start themselves again under the protocol's hash seed, where none is set."""
READ_AT_START = ("PYTHON", "LANG", "LC_", "OPENBLAS", "OMP", "MKL", "LD_", "COVERAGE")
"""Prefixes of the variables that an interpreter reads when it starts."""

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
    words = list(map(str, arguments))
    forks = program == ("-m", "recallbench") and not any(n.startswith(READ_AT_START) for n in env or ())
    run = _forked if forks and not os.environ.get(FRESH) else _started
    done = run([*program, *words], cwd, environment(cwd, env))
    print(f"$ recallbench {' '.join(words)}\n{done.stdout}{done.stderr}[exit {done.returncode}]")
    assert "Traceback" not in done.stderr
    assert "defect of RecallBench" not in done.stderr
    return done


def _started(words: list[str], cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def _forked(words: list[str], cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    if words[2:3] and words[2] in SEEDED:
        env.setdefault("PYTHONHASHSEED", "42")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(_zygote())
        with connection.makefile("rw") as stream:
            request = {"words": words[2:], "folder": str(cwd.resolve()), "environment": env}
            stream.write(json.dumps(request) + "\n")
            stream.flush()
            code, out, err = json.loads(stream.readline())
    return subprocess.CompletedProcess(words, code, out, err)


@cache
def _zygote() -> str:
    """Start the process that commands are forks of, and return its address; it ends with this one."""
    address = str(Path(tempfile.mkdtemp(prefix="recallbench-zygote-")) / "socket")
    command = [sys.executable, Path(__file__).with_name("zygote.py"), address]
    env = environment(Path(address).parent, {"PYTHONHASHSEED": "42", "OPENBLAS_NUM_THREADS": "1"})
    process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return address


def environment(cwd: Path, more: dict[str, str] | None = None) -> dict[str, str]:
    """The environment of a user with nothing set up, whose caches lie inside `cwd`; the hub can't be reached."""
    variables = {name: value for name, value in os.environ.items() if name not in PRIVATE}
    variables |= {
        "RECALLBENCH_CACHE_DIR": str(cwd / "cache"),
        "XDG_DATA_HOME": str(cwd / "share"),
        "HF_HOME": str(cwd / "hf"),
        "HF_HUB_OFFLINE": "1",
    }
    return variables | (more or {})
