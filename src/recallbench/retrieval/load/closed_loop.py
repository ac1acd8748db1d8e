"""A closed loop: each client asks its next question when it has the answer to the last one.

It finds the throughput that a store can give. A stall hides in it: while the store stalls, nobody asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from threading import Lock

from recallbench.retrieval.load.call import AnswerBook, Client, LoadCall, LoadLevel, timed_call
from recallbench.retrieval.load.clients import run_together
from recallbench.retrieval.load.clock import Clock, SystemClock

_SYSTEM = SystemClock()


def closed_loop(
    clients: Sequence[Client], questions: Iterator[int], seconds: float, most: int, clock: Clock = _SYSTEM
) -> LoadLevel:
    """Let the clients ask for that long, `most` questions in all; a call that has begun is waited for."""
    calls: list[LoadCall] = []
    book, lock, begun, stopped = AnswerBook(), Lock(), [0], [False]
    origin = clock.now()

    def next_question() -> int | None:
        with lock:
            if stopped[0] or begun[0] >= most or (begun[0] and clock.now() - origin >= seconds):
                return None
            begun[0] += 1
            return next(questions)

    def work(number: int, client: Client) -> None:
        while (question := next_question()) is not None:
            calls.append(timed_call(client, question, number, clock, origin, book, None, 0.0))

    def stop() -> None:
        stopped[0] = True

    run_together([partial(work, number, client) for number, client in enumerate(clients)], stop, seconds)
    calls.sort(key=lambda call: call.started)
    return LoadLevel(tuple(calls), len(clients), max((call.finished for call in calls), default=0.0))
