"""Rows on their way into a table, which wait until a COPY of them is worth its round trips."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recallbench.stores.postgres.wire import HEADER, TRAILER

if TYPE_CHECKING:
    from psycopg import Connection

ENOUGH = 8 << 20
"""Bytes that are copied at a time: those of one small scope are half a megabyte."""


class CopyBatch:
    """The rows that a server has yet to be sent."""

    def __init__(self, statement: str) -> None:
        """`statement` is a COPY … FROM STDIN BINARY."""
        self._statement = statement
        self._blocks: list[bytes] = []
        self._bytes = 0

    def add(self, connection: Connection, blocks: Iterable[bytes]) -> None:
        """Take in packed rows, and send what waits whenever that is enough."""
        for block in blocks:
            self._blocks.append(block)
            self._bytes += len(block)
            if self._bytes >= ENOUGH:
                self.send(connection)

    def send(self, connection: Connection) -> None:
        """Send all rows that wait."""
        blocks, self._blocks, self._bytes = self._blocks, [], 0
        if blocks:
            with connection.cursor().copy(self._statement) as copy:
                for block in (HEADER, *blocks, TRAILER):
                    copy.write(block)
