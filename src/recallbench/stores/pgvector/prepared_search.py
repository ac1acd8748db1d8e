"""The prepared statement of a session: blocks of questions go in, their hits come out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from recallbench.errors import InputError
from recallbench.stores.call_clock import CallClock
from recallbench.stores.postgres import wire
from recallbench.stores.postgres.pending import PendingBlock, push
from recallbench.stores.postgres.postgres import database_errors
from recallbench.stores.store import Hit, Query
from recallbench.stores.vectors import checked_questions

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.pq.abc import PGresult

AT_ONCE = 256
"""Questions in one statement: enough to make round trips cheap, few enough to bound memory."""
LONGEST_QUESTION = 200_000
WIDEST_PLAN_LINE = 110
"""The score stands in full in sql/recall.sql; a plan repeats it in every sort key."""
STATEMENT = b"recall"
NO_OP = b"no_op"


class PreparedSearch:
    """A statement that is prepared in a session when this is made."""

    def __init__(self, connection: Connection, statement: str, dims: int, *, reads_words: bool, timed: bool) -> None:
        """`reads_words` says that the statement asks for texts and moments beside vectors, `timed` that it asks for the
        first id that a question does not see."""
        self._connection = connection
        self._dims = dims
        self._reads_words, self._timed = reads_words, timed
        self._pending: PendingBlock | None = None
        self._has_no_op = False
        self.clock = CallClock()
        """The time from sending a block until its answers are here, over all blocks."""
        with database_errors("preparing its statement"):
            row = connection.execute("SELECT 'vector'::regtype::oid, 'vector[]'::regtype::oid").fetchone()
            assert row is not None
            self._vector, vectors = row
            types = [wire.INT4_ARRAY, vectors, wire.TEXT_ARRAY, wire.TIMESTAMPTZ_ARRAY, wire.INT8]
            types += [wire.INT8_ARRAY] if timed else []
            connection.pgconn.send_prepare(STATEMENT, statement.encode(), types)
            push(connection.pgconn)
        self._checked(PendingBlock(connection.pgconn).receive())

    def search_many(self, queries: Sequence[Query], k: int) -> Iterator[list[Hit]]:
        """Yield the hits of each question, in order."""
        # The server works on one block of questions while the one before is unpacked here.
        pending: PendingBlock | None = None
        for start in range(0, len(queries), AT_ONCE):
            parameters = self._packed(queries[start : start + AT_ONCE], k)
            with self.clock:
                answers, pending = pending and pending.receive(), self._send(parameters)
            if answers:
                yield from _unpacked(self._checked(answers))
        if pending:
            with self.clock:
                last = pending.receive()
            yield from _unpacked(self._checked(last))

    def round_trip(self) -> None:
        """Execute a prepared statement that has nothing to do."""
        self.settle()
        pgconn = self._connection.pgconn
        with database_errors("answering a statement without work"):
            if not self._has_no_op:
                self._connection.execute(b"PREPARE " + NO_OP + b" AS SELECT 1")
                self._has_no_op = True
            pgconn.send_query_prepared(NO_OP, None, None, 1)
            push(pgconn)
        self._checked(PendingBlock(pgconn).receive())

    def settle(self) -> None:
        """Wait for the block of questions that is under way: whoever else wants the session has it after that."""
        if self._pending:
            self._pending.receive()

    def plan(self) -> str:
        """Return the plan that every question runs by."""
        self.settle()
        befores = b", '{}'" if self._timed else b""
        statement = b"EXPLAIN (COSTS OFF) EXECUTE recall ('{}', '{}', '{}', '{}', 50" + befores + b")"
        with database_errors("explaining its plan"):
            rows: list[Any] = self._connection.execute(statement).fetchall()
        return "\n".join(
            line if len(line) <= WIDEST_PLAN_LINE else line[: WIDEST_PLAN_LINE - 1] + "…" for (line,) in rows
        )

    def _packed(self, queries: Sequence[Query], k: int) -> Any:
        # The library's types forget that a parameter may be null, hence Any.
        vectors = checked_questions(queries, self._dims)
        texts = moments = None
        if self._reads_words:
            for query in queries:
                if len(query.text) > LONGEST_QUESTION:
                    raise InputError(
                        f"the question `{query.text[:60]}…` is too long",
                        expected=f"at most {LONGEST_QUESTION} characters",
                        found=f"{len(query.text)}",
                    )
            texts = wire.text_array([query.text for query in queries])
            moments = wire.timestamp_array([query.asked_at for query in queries])
        scopes = wire.int4_array([query.scope for query in queries])
        parameters = scopes, wire.vector_array(vectors, self._vector), texts, moments, k.to_bytes(8, "big")
        if not self._timed:
            return parameters
        befores = [wire.LARGEST if query.visible is None else query.visible.stop for query in queries]
        return *parameters, wire.int8_array(befores)

    def _send(self, parameters: Any) -> PendingBlock:
        self.settle()
        pgconn = self._connection.pgconn
        with database_errors("searching"):
            pgconn.send_query_prepared(STATEMENT, parameters, (1,) * len(parameters), 1)
            push(pgconn)
        self._pending = PendingBlock(pgconn)
        return self._pending

    def _checked(self, result: PGresult) -> PGresult:
        from psycopg import OperationalError, errors
        from psycopg.pq import ConnStatus, ExecStatus

        if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
            self.settle()
            with database_errors("searching"):
                if self._connection.pgconn.status != ConnStatus.OK:
                    raise OperationalError(result.get_error_message())
                raise errors.error_from_result(result)
        return result


def _unpacked(result: PGresult) -> Iterator[list[Hit]]:
    for row in range(result.ntuples):
        ids, scores = result.get_value(row, 0), result.get_value(row, 1)
        yield wire.hits(ids, scores) if ids and scores else []
