"""Round trips without work over the transport of a store's searches: no answer of it can be faster."""

from __future__ import annotations

import time

from recallbench.errors import Blocked, InputError
from recallbench.stores.store import Store

NO_OPS = 40
"""How many are timed."""
NO_OP_SECONDS = 2.0
"""Seconds after which no further one is made."""


def time_round_trips(store: Store) -> list[float]:
    """Return the milliseconds of each; none where the store has no transport, or its fails."""
    milliseconds: list[float] = []
    ends = time.perf_counter() + NO_OP_SECONDS
    try:
        if not store.round_trip():  # the first one prepares what the others go by
            return []
        while len(milliseconds) < NO_OPS and time.perf_counter() < ends:
            started = time.perf_counter()
            store.round_trip()
            milliseconds.append(1000 * (time.perf_counter() - started))
    except (InputError, Blocked):
        return []  # every question has its answer: nothing ends for want of this
    return milliseconds
