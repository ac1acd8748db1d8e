"""What Ray finds and leaves in this process: variables that it reads, handlers of signals that it sets."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from recallbench.errors import Blocked, UsageError
from recallbench.interruption import ENDING, TimeLimitExceeded, time_limit

LOOPBACK = "127.0.0.1"
BINDS_LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Without it Ray takes the machine's address on the network in place of the loopback's."""
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
}
IN_PROCESS_INSTEAD = "without --engine ray the same command does all in this process"


@contextmanager
def variables(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables of this process and of those that it starts, for the time of the block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def connect(ray: Any, address: str, seconds: float, refused: Callable[[str], Blocked], **more: Any) -> None:
    """Connect to the cluster at an address within so many seconds; else raise what `refused` makes of the reason.

    Further settings are Ray's own.
    """
    try:
        with _handlers_kept(), time_limit(seconds):
            ray.init(address, log_to_driver=False, logging_level=50, **more)
    except (TimeLimitExceeded, Exception) as error:  # Ray raises whatever it likes
        raise refused(_first_line(error)) from error


@contextmanager
def _handlers_kept() -> Iterator[None]:
    """Put the handlers of signals back behind a block: Ray sets its own, which end the process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def import_ray() -> Any:
    """Return Ray, without the complaints of nodes that it writes to stdout, between results: items tell of theirs.

    Raises UsageError where this program uses it already, which is none of ours to end.
    """
    import ray
    from ray._private import ray_constants, worker

    if ray.is_initialized():
        raise UsageError(
            "this program is connected to a Ray cluster already",
            expected="--engine ray where nothing else of the program uses Ray",
            found="a connection",
            remedy="ray.shutdown() first",
        )
    # Read when Ray is first imported, be it by somebody else and before the variable was set.
    by_network = ray_constants.env_bool(*BINDS_LOOPBACK, sys.platform == "linux")
    ray_constants.ENABLE_RAY_CLUSTER = by_network
    worker.listen_error_messages = lambda *_: None
    return ray


def _first_line(error: BaseException) -> str:
    """Return an error of Ray in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__
