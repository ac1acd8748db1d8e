"""Processes of a cluster whose owner was killed: some of Ray's own go on for minutes, until the next run ends them."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

PROCESSES = "processes"
"""The note of a cluster's folder that has them: when each began, by its number."""


RAYS = re.compile(rb"ray::|[^\0]*-packages/ray/|[^\0]*\0(-\w+\0)*[^\0]*-packages/ray/")
"""How the command of a process of Ray begins: its own name, its program, or what a Python runs."""


def rays_descendants() -> dict[str, str]:
    """Return those of `descendants` that are Ray's: servers and code of the user's own are left alone."""
    return {number: start for number, start in descendants().items() if _is_rays(number)}


def descendants() -> dict[str, str]:
    """Return when each process began that this one or a child of it started, by its number; none without /proc."""
    found: dict[str, tuple[str, str]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        if (told := _parent_and_start(entry.name)) is not None:
            found[entry.name] = told
    ours = {str(os.getpid())}
    while more := {number for number, (parent, _) in found.items() if parent in ours} - ours:
        ours |= more
    return {number: found[number][1] for number in sorted(ours - {str(os.getpid())})}


def end_leftovers(folder: Path, facts: Mapping[str, Any]) -> None:
    """End the processes that a dead owner noted, those that still are what they were, and Ray's with files of it open.

    One that was killed while its cluster started has noted none, and Ray's agents outlive it by minutes.
    """
    noted = facts.get(PROCESSES)
    left = {number for number, start in noted.items() if _began(number) == start} if isinstance(noted, dict) else set()
    for number in left | {number for number in _writing_in(folder) if _is_rays(number)}:
        with suppress(OSError):
            os.kill(int(number), signal.SIGKILL)


def _began(number: Any) -> str | None:
    told = _parent_and_start(number) if isinstance(number, str) and number.isdigit() else None
    return None if told is None else told[1]


def _writing_in(folder: Path) -> set[str]:
    """Return the other processes that have a file of this folder open, as far as our rights show them."""
    inside, found = f"{folder}{os.sep}", set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile, or is somebody else's
            if process.name != str(os.getpid()) and any(
                os.readlink(file).startswith(inside) for file in (process / "fd").iterdir()
            ):
                found.add(process.name)
    return found


def _is_rays(number: str) -> bool:
    try:
        return RAYS.match(Path("/proc", number, "cmdline").read_bytes()) is not None
    except OSError:
        return False  # it ended meanwhile, or is somebody else's


def _parent_and_start(number: str) -> tuple[str, str] | None:
    try:
        # The name in parentheses may hold anything.
        fields = Path("/proc", number, "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return fields[1], fields[19]
