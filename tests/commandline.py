"""The real command line, in a real process.

Most commands are forks of one process that has the libraries loaded (`zygote.py`); where a test looks at the start
itself, or RECALLBENCH_TEST_FRESH is set, each is a new interpreter.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import forked
from forked import COMMAND, outcome

FRESH = "RECALLBENCH_TEST_FRESH"
READ_AT_START = ("PYTHON", "LANG", "LC_", "OPENBLAS", "OMP", "MKL", "LD_", "COVERAGE")
"""Prefixes of the variables that an interpreter reads when it starts; a fork does of itself what PYTHONPATH says."""
OF_FORKS = {"PYTHONHASHSEED": "42", "OPENBLAS_NUM_THREADS": "1"}
"""Those that the process has which commands are forks of."""

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
    program: tuple[str, ...] = COMMAND,
    typed: str = "",
    package: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; what it printed is shown when an assertion on it fails.

    `program` is another that Python is given: ("-c", code) or the path of a script; `typed` is what it reads.
    `package` is the folder of another copy of the package, whose commands are forks of a process of their own.
    """
    words = list(map(str, arguments))
    done = ended(words, cwd=cwd, env=env, program=program, typed=typed, package=package)
    print(f"$ recallbench {' '.join(words)}\n{done.stdout}{done.stderr}[exit {done.returncode}]")
    assert "Traceback" not in done.stderr
    assert "defect of RecallBench" not in done.stderr
    return done


def ended(
    words: list[str],
    *,
    cwd: Path,
    env: dict[str, str] | None = None,
    program: tuple[str, ...] = COMMAND,
    typed: str = "",
    package: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, however it ends."""
    copy = {"PYTHONPATH": str(package)} if package else {}
    alike = program == COMMAND or program[0] == "-c" or Path(program[0]).suffix == ".py"
    at_start = {name: value for name, value in (env or {}).items() if name.startswith(READ_AT_START)}
    at_start.pop("PYTHONPATH", None)
    forks = alike and at_start.items() <= OF_FORKS.items() and not os.environ.get(FRESH)
    variables = environment(cwd, {**copy, **(env or {})})
    if forks:
        answer = outcome(_zygote(**copy), words, str(cwd.resolve()), variables, program=program, typed=typed)
        return subprocess.CompletedProcess(words, *answer)
    return _started([*program, *words], cwd, variables, typed)


def _started(words: list[str], cwd: Path, env: dict[str, str], typed: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *words]
    stdin: dict[str, Any] = {"input": typed} if typed else {"stdin": subprocess.DEVNULL}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False, **stdin)


def installed(folder: Path) -> str:
    """Put the program `recallbench` for a shell into a folder, and return a PATH that begins with it."""
    folder.mkdir(exist_ok=True)
    quick = [sys.executable, "-IS", Path(forked.__file__), _zygote()]
    words = [sys.executable, "-m", "recallbench"] if os.environ.get(FRESH) else quick
    program = folder / "recallbench"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n')
    program.chmod(0o755)
    return os.pathsep.join([str(folder), os.environ["PATH"]])


@cache
def _zygote(**at_start: str) -> str:
    """Start the process that commands are forks of, and return its address; it and its folder end with this one.

    `at_start` are further variables that it is started with.
    """
    address = str(Path(tempfile.mkdtemp(prefix="recallbench-zygote-")) / "socket")
    command = [sys.executable, Path(__file__).with_name("zygote.py"), address]
    env = environment(Path(address).parent, OF_FORKS | at_start)
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
