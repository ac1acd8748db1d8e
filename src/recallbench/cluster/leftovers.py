"""Processes of a cluster whose owner was killed: some of Ray's own go on for minutes, until the next run ends them."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

PROCESSES = "processes"
"""The note of a cluster's folder that has them: when each began, by its number."""


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


def end_leftovers(_folder: Path, facts: Mapping[str, Any]) -> None:
    """End the processes that a dead owner noted: those that still are what they were."""
    noted = facts.get(PROCESSES)
    for number, start in noted.items() if isinstance(noted, dict) else ():
        told = _parent_and_start(number) if isinstance(number, str) and number.isdigit() else None
        if told is not None and told[1] == start:
            with suppress(OSError):
                os.kill(int(number), signal.SIGKILL)


def _parent_and_start(number: str) -> tuple[str, str] | None:
    try:
        # The name in parentheses may hold anything.
        fields = Path("/proc", number, "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return fields[1], fields[19]
