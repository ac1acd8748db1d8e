"""Questions put to a store by several callers at the same time: their answers are those of a single one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from recallbench.retrieval.failures import Failures
from recallbench.retrieval.load.clients import run_together
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.request import Request
from recallbench.stores.store import Store

Asking = Callable[[Store, Sequence[Request], Failures], Iterable[Ranking]]
"""Asks a store questions, and yields their rankings in order; what fails on the way is noted."""


def ask_together(
    callers: Sequence[Store], requests: Sequence[Request], asking: Asking, failures: Failures
) -> list[Ranking]:
    """Return the rankings of the requests in their order, each asked by one of the callers; a single one asks all.

    Raises the first failure of any of them, where failures are not noted.
    """
    if len(callers) == 1 or len(requests) < 2:
        return list(asking(callers[0], requests, failures))
    stopped: list[None] = []
    found: list[list[Ranking]] = [[] for _ in callers]
    noted = [Failures(keep_going=failures.keep_going) for _ in callers]

    def ask(number: int) -> None:
        for ranking in asking(callers[number], requests[number :: len(callers)], noted[number]):
            found[number].append(ranking)
            if stopped:
                return

    # The first of three asks questions 1, 4, 7 …: so all of them get their part of a long haystack.
    tasks = [partial(ask, number) for number in range(len(callers))]
    run_together(tasks, lambda: stopped.append(None), math.inf)
    reasons = {id: error for each in noted for id, error in each.reasons.items()}
    for request in requests:
        if (error := reasons.get(request.question.id)) is not None:
            failures.reasons.setdefault(request.question.id, error)
    for each in noted:
        failures.seconds |= each.seconds
    return [found[place % len(callers)][place // len(callers)] for place in range(len(requests))]
