"""A signal that would end the program waits for the end of a block that it must not break into."""

import subprocess
import sys

import pytest

# In a process of its own: a signal is a matter of the whole process, and this one may hold native libraries.
PROGRAM = """
import os, signal, sys
from recallbench.interruption import postpone_signals

def interrupt(number, frame):
    raise KeyboardInterrupt(number)

number = getattr(signal, sys.argv[1])
signal.signal(number, interrupt)
with postpone_signals():
    pass
assert signal.getsignal(number) is interrupt
try:
    with postpone_signals():
        os.kill(os.getpid(), number)
        print("the rest of the block")
    print("behind it")
except KeyboardInterrupt:
    print("interrupted")
assert signal.getsignal(number) is interrupt
"""


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_waits_for_the_end_of_the_block(number: str) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, number], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()) == (0, ["the rest of the block", "interrupted"]), done.stderr
