"""Clients at work at the same time, each in a thread of its own; a single one in the thread of its caller."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from recallbench.errors import Blocked
from recallbench.interruption import postpone_signals

POLL = 0.02
"""Seconds between two looks at whether all are done."""
PATIENCE = 120.0
"""Seconds that a call may go on behind the end of its level."""
FAREWELL = 1.0
"""Seconds that the others have to come back from their calls after an interruption."""
SWITCH = 0.0001
"""Seconds after which a thread hands the interpreter on: by default 5 ms, by which others would be late."""


def run_together(tasks: Sequence[Callable[[], None]], stop: Callable[[], None], seconds: float) -> None:
    """Run the tasks at the same time, and come back when all are done; raises the first failure of one.

    `stop` has them end after the call they are in. Raises Blocked where one goes on long after `seconds`. A single task
    runs in this thread, where signals and time limits reach it.
    """
    if len(tasks) == 1:
        tasks[0]()
        return
    failures: list[BaseException] = []
    done: list[None] = []

    def run(task: Callable[[], None]) -> None:
        try:
            task()
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits for it
            failures.append(error)
            stop()
        finally:
            done.append(None)

    deadline = time.monotonic() + seconds + PATIENCE
    with _quick_switches():
        try:
            with postpone_signals():
                for task in tasks:
                    threading.Thread(target=run, args=(task,), daemon=True).start()
            # Not joined: waiting for a lock is not safe against Ctrl-C.
            while len(done) < len(tasks) and time.monotonic() < deadline:
                time.sleep(POLL)
        except BaseException:
            stop()
            farewell = time.monotonic() + FAREWELL
            while len(done) < len(tasks) and time.monotonic() < farewell:
                time.sleep(POLL)
            raise
    if failures:
        raise failures[0]
    if len(done) < len(tasks):
        stop()
        raise Blocked(
            "the store does not answer under load",
            expected=f"every answer within {PATIENCE:.0f} s after the end of its level",
            found=f"{len(tasks) - len(done)} of {len(tasks)} clients still wait",
            remedy="ask with fewer --clients, or look at what the store waits for",
        )


@contextmanager
def _quick_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
