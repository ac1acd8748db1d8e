"""Commands without any network, not even the loopback interface, and the packets that they try to send."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from commandline import environment

APART = ("unshare", "--map-root-user", "--net")
KEEP = 'at=$1; shift; "$@"; code=$?; cat /proc/self/net/snmp /proc/self/net/snmp6 > "$at"; exit $code'


class Offline(NamedTuple):
    """The end of a command, and how many packets it sent or tried to send, by the kernel's counters."""

    returncode: int
    stdout: str
    stderr: str
    packets: int


def offline(*words: str | Path, cwd: Path, env: dict[str, str] | None = None) -> Offline:
    """Run Python with these words; skips the test, and says why, where this system offers no network of one's own."""
    if not shutil.which("unshare") or subprocess.run([*APART, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network namespace to be had: `unshare --map-root-user --net true` fails here")
    counters = cwd / "counters"
    command = [*APART, "sh", "-c", KEEP, "sh", str(counters), sys.executable, *map(str, words)]
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment(cwd, env),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    print(f"$ python {' '.join(map(str, words))}\n{done.stdout}{done.stderr}[exit {done.returncode}]")
    return Offline(done.returncode, done.stdout, done.stderr, _sent(counters.read_text()))


def _sent(text: str) -> int:
    counters = {}
    rows = [line.split() for line in text.splitlines()]
    for row, following in zip(rows, [*rows[1:], []], strict=True):
        if row[0] == "Ip:" and row[1].isalpha():
            counters |= dict(zip(row, following, strict=True))
        elif len(row) == 2 and row[0].startswith("Ip6"):
            counters[row[0]] = row[1]
    assert {"OutRequests", "OutNoRoutes"} <= set(counters), text
    names = ("OutRequests", "OutNoRoutes", "Ip6OutRequests", "Ip6OutNoRoutes")
    return sum(int(counters.get(name, 0)) for name in names)
