"""The clock of a load generator."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Protocol

SPIN = 0.0005
"""Seconds before a moment from which on it is watched for: a sleep ends late by up to about a tenth of that."""


_let_others_go_on: Callable[[], object] = getattr(os, "sched_yield", lambda: None)
"""Lets other clients have the interpreter. A sleep of no length would, but takes some 50 µs on Linux."""


class Clock(Protocol):
    """Tells the time in seconds, and waits for a moment."""

    def now(self) -> float: ...

    def wait_until(self, moment: float) -> None: ...


class SystemClock:
    """The finest clock of the system, which nobody can set."""

    def now(self) -> float:
        return time.perf_counter()

    def wait_until(self, moment: float) -> None:
        """Sleep nearly until then and watch the clock for the rest, so that hardly a moment is missed."""
        left = moment - time.perf_counter() - SPIN
        if left > 0:
            time.sleep(left)
        while time.perf_counter() < moment:
            _let_others_go_on()
