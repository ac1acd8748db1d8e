"""`recallbench`, also as `python -m recallbench`: nothing is imported here before a Ctrl-C is heard."""

import gc
import os
import signal
from types import FrameType

COLLECTED_AFTER = (50_000, 20, 100)
"""Objects after which Python looks for cycles: what a command reads it keeps, and the default looks through that again
and again, which takes a third of the time of a site over 200 results."""


def run() -> None:
    """Run the command; a Ctrl-C while it is still being imported ends it without a traceback."""
    gc.set_threshold(*COLLECTED_AFTER)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from recallbench.cli.main import run_program

    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run_program()


def _leave(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"recallbench: interrupted before it began\n")
    os._exit(130)


if __name__ == "__main__":
    run()
