"""Commands in a process of their own, followed by what they write while they run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from commandline import environment


@contextmanager
def running(words: Iterable[str | Path], cwd: Path, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """A command whose stderr can be read while it runs."""
    with subprocess.Popen(
        [sys.executable, "-m", "recallbench", *words],
        cwd=cwd,
        env=environment(cwd, variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        yield process


def said(process: subprocess.Popen[str], words: str) -> str:
    """What a command writes up to a line with these words, that included."""
    assert process.stderr
    lines = []
    for line in process.stderr:
        lines.append(line)
        if words in line:
            return "".join(lines)
    raise AssertionError("".join(lines))
