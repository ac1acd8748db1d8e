"""A signal waits for the end of an import."""

import subprocess
import sys

import pytest

# In a process of its own: a signal is a matter of the whole process, and this one may hold native libraries.
PROGRAM = """
import os, signal, sys
from recallbench.embedding.native import unbroken

def interrupt(came, frame):
    raise KeyboardInterrupt(came)

number = getattr(signal, sys.argv[1])
signal.signal(number, interrupt)
with unbroken():
    pass
assert signal.getsignal(number) is interrupt
try:
    with unbroken():
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
