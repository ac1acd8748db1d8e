"""The limit of a call leaves no alarm behind that would end the process later."""

import signal

from recallbench.cases.alarm import alarm


def test_an_alarm_that_rings_late_does_not_set_itself_again() -> None:
    with alarm(30.0) as rung:
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    rung.ring(signal.SIGALRM, None)  # as Python may run it, once the block is left
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_anothers_alarm_goes_on_behind_it() -> None:
    before = signal.signal(signal.SIGALRM, lambda number, frame: None)
    try:
        signal.setitimer(signal.ITIMER_REAL, 60.0)
        with alarm(30.0):
            pass
        assert 50.0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 60.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
