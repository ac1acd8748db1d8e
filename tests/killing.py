"""Processes that are killed at a chosen step of their work on disk."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Collection

STEPS = ("open", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.scandir", "os.listdir", "fcntl.flock")


def killed_at(step: int, work: Callable[[], object], steps: Collection[str] = STEPS) -> bool:
    """Run this in a process of its own and kill it right before that step on disk; return whether it got that far."""
    child = os.fork()
    if child == 0:
        gc.disable()  # a look over all that a worker of the tests holds copies it
        left = step

        def count(event: str, _: tuple[object, ...]) -> None:
            nonlocal left
            if event in steps:
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)
