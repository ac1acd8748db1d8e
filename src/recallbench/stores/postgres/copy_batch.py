"""Rows on their way into a table: they wait until a COPY of them is worth its round trips.

The server works on one batch while the next is made: its socket takes in a whole one, as far as the system allows.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from recallbench.stores.postgres.pending import PendingBlock, next_result, push
from recallbench.stores.postgres.wire import HEADER, TRAILER

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.pq.abc import PGconn, PGresult

ENOUGH = 2 << 20
"""Bytes that are copied at a time: those of one small scope are half a megabyte."""


class CopyBatch:
    """The rows that a server has yet to be sent, and those that it is taking in."""

    def __init__(self, statement: str) -> None:
        """`statement` is a COPY … FROM STDIN BINARY."""
        self._statement = statement.encode()
        self._blocks: list[bytes] = []
        self._bytes = 0
        self._pending: PendingBlock | None = None

    def add(self, connection: Connection, blocks: Iterable[bytes]) -> None:
        """Take in packed rows, and send what waits whenever that is enough."""
        for block in blocks:
            self._blocks.append(block)
            self._bytes += len(block)
            if self._bytes >= ENOUGH:
                self._send(connection.pgconn)

    def finish(self, connection: Connection) -> None:
        """Send all rows that wait, and return once the server has them; raises what it says."""
        if self._blocks:
            self._send(connection.pgconn)
        self.settle()

    def settle(self) -> None:
        """Wait for the batch that is under way: whoever else wants the session has it after that."""
        from psycopg.pq import ExecStatus

        if pending := self._pending:
            result = pending.receive()
            # Not before: one that is interrupted here has to be waited for again.
            self._pending = None
            _check(result, pending.pgconn, ExecStatus.COMMAND_OK)

    def abandon(self) -> None:
        """Forget the rows that wait, and what the server says of those under way."""
        from psycopg import Error

        self._blocks, self._bytes = [], 0
        with suppress(Error):
            self.settle()

    def _send(self, pgconn: PGconn) -> None:
        from psycopg.pq import ExecStatus

        self.settle()
        blocks, self._blocks, self._bytes = self._blocks, [], 0
        _widen(pgconn.socket)
        pgconn.send_query(self._statement)
        push(pgconn)
        _check(next_result(pgconn), pgconn, ExecStatus.COPY_IN)
        failure: bytes | None = b"not all rows were sent"
        try:
            for block in (HEADER, *blocks, TRAILER):
                while not pgconn.put_copy_data(block):
                    push(pgconn)
            failure = None
        finally:
            pgconn.put_copy_end(failure)
            self._pending = PendingBlock(pgconn)
            push(pgconn)


def _check(result: PGresult | None, pgconn: PGconn, expected: int) -> None:
    from psycopg import OperationalError, errors
    from psycopg.pq import ConnStatus

    if result is not None and result.status == expected:
        return
    # Until the last result is taken the session does nothing else.
    while next_result(pgconn) is not None:
        pass
    if result is None or pgconn.status != ConnStatus.OK:
        raise OperationalError(pgconn.get_error_message())
    raise errors.error_from_result(result)


def _widen(descriptor: int) -> None:
    """Let a socket on this machine hold a whole batch; those of a network know best themselves."""
    with socket.socket(fileno=os.dup(descriptor)) as own:
        if own.family == socket.AF_UNIX:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ENOUGH)
