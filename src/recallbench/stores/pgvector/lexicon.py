"""The lexical index of the reference store, built scope by scope on as many sessions as help."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from recallbench.progress import Advance

if TYPE_CHECKING:
    from psycopg import Connection

MOST_SESSIONS = 4
WORTH_A_SESSION = 20
"""Scopes that one more session must get, so that opening it pays."""


def sessions_for(scopes: int) -> int:
    """Return the number of sessions that should share the work."""
    return max(1, min(MOST_SESSIONS, os.cpu_count() or 1, scopes // WORTH_A_SESSION))


def build_lexicon(
    statement: str, scopes: Sequence[int], first: Connection, more: Callable[[], Connection], advance: Advance
) -> None:
    """Run `statement` for every scope; `more` opens further sessions, which are closed here."""
    from psycopg import RawCursor

    with ExitStack() as opened:
        idle: SimpleQueue[RawCursor[Any]] = SimpleQueue()
        idle.put(RawCursor(first))
        number = sessions_for(len(scopes))
        for _ in range(number - 1):
            idle.put(RawCursor(opened.enter_context(more())))

        def build(scope: int) -> None:
            cursor = idle.get()
            try:
                cursor.execute(statement.encode(), (scope,), prepare=True)
            finally:
                idle.put(cursor)

        pool = ThreadPoolExecutor(number)
        # On a failure, or on Ctrl-C, what has not begun is dropped and what has is waited for.
        opened.callback(pool.shutdown, cancel_futures=True)
        for _ in pool.map(build, scopes):
            advance(1)
