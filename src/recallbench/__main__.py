"""`recallbench`, also as `python -m recallbench`: nothing is imported here before a Ctrl-C is heard."""

import os
import signal
from types import FrameType


def run() -> None:
    """Run the command; a Ctrl-C while it is still being imported ends it without a traceback."""
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
