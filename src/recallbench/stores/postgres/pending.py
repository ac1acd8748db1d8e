"""A block of questions on its way to a server, and its answers on their way back."""

from __future__ import annotations

from select import POLLIN, POLLOUT, poll
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycopg.pq.abc import PGconn, PGresult


def push(pgconn: PGconn) -> None:
    """Send the rest that the socket did not take at once: until then it stays here, and the server waits for it."""
    writable = poll()
    writable.register(pgconn.socket, POLLOUT)
    while pgconn.flush():
        writable.poll()


class PendingBlock:
    """A block of questions under way to the server; its answers wait here until they are asked for."""

    def __init__(self, pgconn: PGconn) -> None:
        self.pgconn = pgconn
        self._result: PGresult | None = None
        self._complete = False

    def receive(self) -> PGresult:
        while not self._complete:
            result = next_result(self.pgconn)
            self._complete = result is None
            self._result = self._result or result
        assert self._result is not None
        return self._result


def next_result(pgconn: PGconn) -> PGresult | None:
    """Return the next result of what was sent, once it is there or the connection is lost; None behind the last."""
    from psycopg import OperationalError

    # A wait inside the library can't be interrupted.
    readable = poll()
    try:
        readable.register(pgconn.socket, POLLIN)
        while pgconn.is_busy():
            readable.poll()
            pgconn.consume_input()
    except OperationalError:
        pass  # the answer that is asked for next says so
    return pgconn.get_result()
