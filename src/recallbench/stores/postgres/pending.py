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
        self._pgconn = pgconn
        self._result: PGresult | None = None
        self._complete = False

    def receive(self) -> PGresult:
        while not self._complete:
            self._wait()
            result = self._pgconn.get_result()
            self._complete = result is None
            self._result = self._result or result
        assert self._result is not None
        return self._result

    def _wait(self) -> None:
        """Until an answer is there, or the connection is lost: a wait inside the library can't be interrupted."""
        from psycopg import OperationalError

        readable = poll()
        try:
            readable.register(self._pgconn.socket, POLLIN)
            while self._pgconn.is_busy():
                readable.poll()
                self._pgconn.consume_input()
        except OperationalError:
            pass  # the answer that is asked for next says so
