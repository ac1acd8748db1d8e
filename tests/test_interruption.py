"""Signals and time limits, in processes of their own where they concern the whole process."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recallbench.interruption import call_timer


def run(program: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program of a few lines."""
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=15, check=False, cwd=cwd
    )


def test_a_timer_that_rings_late_does_not_set_itself_again() -> None:
    with call_timer(30.0) as timer:
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    timer.ring(signal.SIGALRM, None)  # as Python may run it, once the block is left
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_alarm_that_was_set_before_goes_on_behind_a_timer() -> None:
    before = signal.signal(signal.SIGALRM, lambda number, frame: None)
    try:
        signal.setitimer(signal.ITIMER_REAL, 60.0)
        with call_timer(30.0):
            pass
        assert 50.0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 60.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


DEFERRED = """
import os, signal, sys
from recallbench.interruption import ENDING, postpone_signals, raise_on_signals

raise_on_signals()
for number in ENDING:
    interrupt = signal.getsignal(number)
    try:
        with postpone_signals():
            os.kill(os.getpid(), number)
            print("the rest of the block")
        print("behind it")
    except KeyboardInterrupt:
        print("interrupted")
    assert signal.getsignal(number) is interrupt
"""


def test_a_signal_waits_for_the_end_of_the_block() -> None:
    done = run(DEFERRED)
    assert (done.returncode, done.stdout.splitlines()) == (0, ["the rest of the block", "interrupted"] * 3), done.stderr


LOST = """
import os, signal, sys, time
from recallbench.interruption import raise_on_signals
class Finalised:
    def __del__(self):
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))
        print("not reached")
raise_on_signals()
try:
    Finalised()
    time.sleep(20)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("order", ["SIGINT", "SIGTERM"])
def test_an_interruption_that_python_drops_is_raised_again(order: str) -> None:
    done = run(LOST, order)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


WITHIN_EXEC = """
import os, signal, sys
from recallbench.interruption import forget_interrupted_exec, raise_on_signals
raise_on_signals()
try:
    exec("os.kill(os.getpid(), signal.SIGINT)")
except KeyboardInterrupt:
    forget_interrupted_exec()
sys.exit(130)
"""


def test_an_interruption_of_executed_text_ends_with_the_same_code(tmp_path: Path) -> None:
    (tmp_path / "within.py").write_text(WITHIN_EXEC)
    done = subprocess.run([sys.executable, "-m", "within"], cwd=tmp_path, timeout=15, check=False)
    assert done.returncode == 130
