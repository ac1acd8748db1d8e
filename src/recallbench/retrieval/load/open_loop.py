"""An open loop: questions come when they come, whether or not the store is done with those before.

Every latency counts from the moment at which its question was to start. So a stall is seen by all who wait behind it,
as by the callers of a store in use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from threading import Lock

from recallbench.retrieval.load.call import AnswerBook, Client, LoadCall, LoadLevel, timed_call
from recallbench.retrieval.load.clients import run_together
from recallbench.retrieval.load.clock import Clock, SystemClock

_SYSTEM = SystemClock()
LEAD = 0.005
"""Seconds before the first intended start, in which the clients get ready."""


def open_loop(
    clients: Sequence[Client],
    arrivals: Sequence[float],
    questions: Iterator[int],
    seconds: float,
    grace: float,
    clock: Clock = _SYSTEM,
) -> LoadLevel:
    """Ask a question at each of the intended starts, by the first client that is free from then on.

    Arrivals that no client was free for when the level's `seconds` and its `grace` were over are skipped.
    """
    calls: list[LoadCall] = []
    asked = [next(questions) for _ in arrivals]
    book, lock, taken, stopped = AnswerBook(), Lock(), [0], [False]
    origin = clock.now() + LEAD

    def next_arrival() -> int | None:
        with lock:
            place = taken[0]
            if stopped[0] or place >= len(arrivals) or clock.now() - origin > seconds + grace:
                return None
            taken[0] = place + 1
            return place

    def work(number: int, client: Client) -> None:
        free = 0.0
        while (place := next_arrival()) is not None:
            clock.wait_until(origin + arrivals[place])
            if stopped[0]:
                return
            call = timed_call(client, asked[place], number, clock, origin, book, arrivals[place], free)
            free = call.finished
            calls.append(call)

    def stop() -> None:
        stopped[0] = True

    run_together([partial(work, number, client) for number, client in enumerate(clients)], stop, seconds + grace)
    calls.sort(key=lambda call: call.intended)
    return LoadLevel(
        tuple(calls),
        len(clients),
        max((call.finished for call in calls), default=0.0),
        tuple(arrivals[taken[0] :]),
        seconds,
    )
