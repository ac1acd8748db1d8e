"""The reference store: plain Postgres with pgvector, and a score of our own in SQL.

    score = cosine x (1 - cosine distance)
          + bm25 x BM25 / the best BM25 of the scope for this question (0 where no word is shared)
          + recency x 2^(-age / 30 days), age counted back from the question's date, else from the scope's last session
          + importance x the segment's importance
          + graph x 1 where the session before or after is among the five best by the parts above

The SQL lies in `sql/`; the weights are settings of the session, read back from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any, ClassVar, Self

from recallbench.errors import Blocked, InputError, UsageError
from recallbench.progress import Progress, Silent, counted
from recallbench.stores.lexicon import build_lexicon
from recallbench.stores.options import StoreOption
from recallbench.stores.postgres import wire
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.postgres.pending import PendingBlock, push
from recallbench.stores.postgres.postgres import connect, database_errors, ready_server, redacted, server_facts
from recallbench.stores.postgres.status import server_status
from recallbench.stores.postgres.tenancy import claim_schema, drop_schema, schema_bytes
from recallbench.stores.request import StoreRequest, StoreStatus
from recallbench.stores.statement import Statement, exactly
from recallbench.stores.store import Hit, Item, Matrix, Query, Store
from recallbench.stores.vectors import checked_questions, checked_rows
from recallbench.stores.weights import DEFAULT_WEIGHTS, PARTS, WEIGHTS, Weights

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.pq.abc import PGresult

REVISION = 1
"""Counts up whenever the same input may rank otherwise."""
AT_ONCE = 256
"""Questions in one statement: enough to make round trips cheap, few enough to bound memory."""
LONGEST_QUESTION = 200_000
WIDEST_PLAIN = 1_900
"""Dimensions up to which a vector fits into a row's page; wider ones are kept out of line."""
WIDEST_PLAN_LINE = 110
"""The score stands in full in sql/recall.sql; a plan repeats it in every sort key."""
STATEMENT = b"recall"
INDEX = "btree on (scope, id); no vector index: every segment of the scope is compared, exactly"
UNASKED = "nothing was searched"
"""The plan of a store that no question was put to."""
CONSTANTS = {"bm25_k1": "1.2", "bm25_b": "0.75", "recency_half_life_days": "30", "graph_best": "5"}
# Exact order and one plan for every question, whatever the server's own settings are.
SESSION = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "synchronous_commit": "off",
    "client_min_messages": "warning",
    "client_encoding": "UTF8",
    "extra_float_digits": "1",
    "TimeZone": "UTC",
}


class PgvectorStore(Store):
    """Exact search within a scope, in a schema that lives as long as the store."""

    name = "pgvector"
    summary: ClassVar[str] = "the reference: Postgres with pgvector"
    options: ClassVar[tuple[StoreOption, ...]] = (WEIGHTS,)
    prefix_stable: ClassVar[bool] = True
    never_cold: ClassVar[str] = ""

    @classmethod
    def open(cls, request: StoreRequest) -> Self:
        weights = WEIGHTS.read(request.options)
        if request.dsn:
            return cls(request.dsn, weights, request.progress)
        server = EmbeddedServer()
        server.begin()
        return cls(server, weights, request.progress)

    @classmethod
    def status(cls, request: StoreRequest) -> StoreStatus:
        return server_status(request.dsn, request.environ)

    @classmethod
    def states(cls, name: str, options: Mapping[str, Any]) -> tuple[Statement, ...]:
        weights = WEIGHTS.read(options)
        server, vector = r"PostgreSQL (?P<postgres>\S+)", r"(?P<vector>\S+)"
        common = {"pgvector": vector, "index": re.escape(INDEX), "plan": _plan_of(weights)}
        own = _score_settings(weights)
        version = rf"recallbench-pgvector/{REVISION} \({server}, pgvector {vector}\)"

        def on(where: str, connection: str) -> Statement:
            evidence = {"server": f"{server}, {where}", "connection": connection, **common}
            return Statement(version, exactly(own | SESSION), evidence)

        by_dsn = on("given by DSN", r"(?P<dsn>.+)")
        return (by_dsn,) if options.get("dsn") else (on("embedded", "private socket"), by_dsn)

    @classmethod
    def score_range(cls, options: Mapping[str, Any]) -> tuple[float, float]:
        weights = WEIGHTS.read(options)
        return -weights.cosine, sum(getattr(weights, part) for part in PARTS)

    def __init__(
        self,
        server: EmbeddedServer | str,
        weights: Weights = DEFAULT_WEIGHTS,
        progress: Progress | None = None,
    ) -> None:
        """`server` is a DSN, or an embedded server that becomes this store's own: it is stopped on close."""
        self._server = server
        self._weights = weights
        self._progress = progress or Silent()
        self._connection: Connection | None = None
        self._guard: Connection | None = None
        """The session that holds the schema, while `_connection` is another one that only searches."""
        self._dsn = ""
        self._schema = ""
        self._extension = ""
        """The schema that pgvector lies in."""
        self._dims = 0
        self._vector = self._vectors = 0
        """The numbers of the types vector and vector[] in this database."""
        self._scopes: dict[int, None] = {}
        self._prepared = False
        self._pending: PendingBlock | None = None

    def prepare(self, dims: int) -> None:
        if not 1 <= dims <= 16_000:
            raise UsageError(
                "the store can't hold these vectors", expected="1 to 16000 numbers each", found=f"{dims} numbers"
            )
        try:
            self._dsn = self._server if isinstance(self._server, str) else self._server.dsn
            self._connection = connect(self._dsn)
            self._furnish(self._connection, dims)
        except BaseException:
            self.close()
            raise

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        rows = checked_rows(items, vectors, self._dims)
        for item in items:
            if not 0 <= item.importance <= 1:
                raise InputError(
                    f"segment {item.id} (scope {item.scope}) has an impossible importance",
                    expected="a number from 0 to 1",
                    found=str(item.importance),
                )
        self._scopes.update(dict.fromkeys(item.scope for item in items))
        statement = "COPY segments (id, scope, occurred_at, importance, text, embedding) FROM STDIN BINARY"
        connection = self._open()
        taking = self._progress.stage("taking in segments", len(items), "segments")
        with database_errors("taking in segments"), taking as advance, connection.cursor().copy(statement) as copy:
            for block in wire.copy_blocks(counted(items, advance), rows):
                copy.write(block)

    def ready(self) -> None:
        connection = self._open()
        with database_errors("indexing"):
            if self._weights.bm25:
                with self._progress.stage("lexicon", len(self._scopes), "scopes") as advance:
                    build_lexicon(_sql("lexicon"), tuple(self._scopes), connection, self._session, advance)
                connection.execute("ANALYZE postings")
            connection.execute("ANALYZE segments")
        self._prepare_statement(connection)

    def search(self, query: Query, k: int) -> list[Hit]:
        return next(self.search_many([query], k))

    def search_many(self, queries: Sequence[Query], k: int) -> Iterator[list[Hit]]:
        # The server works on one block of questions while the one before is unpacked here.
        pending: PendingBlock | None = None
        for start in range(0, len(queries), AT_ONCE):
            parameters = self._packed(queries[start : start + AT_ONCE], k)
            answers, pending = pending and pending.receive(), self._send(parameters)
            if answers:
                yield from _unpacked(self._checked(answers))
        if pending:
            yield from _unpacked(self._checked(pending.receive()))

    def chill(self) -> str:
        """A fresh session, which has read no catalogue and made no plan; the server's own cache stays warm."""
        old = self._open()
        connection = self._session()
        if self._guard is None:
            self._guard = old
        else:
            old.close()
        self._connection = connection
        self._prepare_statement(connection)
        return ""

    def version(self) -> str:
        facts = server_facts(self._open())
        vector = facts.vector.version if facts.vector else "?"
        return f"recallbench-pgvector/{REVISION} (PostgreSQL {facts.postgres}, pgvector {vector})"

    def settings(self) -> Mapping[str, str]:
        own = _score_settings(self._weights)
        with database_errors("reading its settings back"):
            rows = self._open().execute(
                "SELECT n, current_setting(n) FROM unnest(%s::text[]) AS n", ([*own, *SESSION],)
            )
            return dict(rows.fetchall())

    def evidence(self) -> Mapping[str, str]:
        facts = server_facts(self._open())
        return {
            "server": f"PostgreSQL {facts.postgres}, {'embedded' if self._embedded else 'given by DSN'}",
            "connection": "private socket" if self._embedded else redacted(str(self._server)),
            "pgvector": facts.vector.version if facts.vector else "?",
            "index": INDEX,
            "plan": self._plan(),
        }

    def stored_bytes(self) -> Mapping[str, int]:
        return schema_bytes(self._open(), self._schema)

    def close(self) -> None:
        searching, self._connection = self._connection, None
        holding, self._guard = self._guard or searching, None
        try:
            # An embedded server goes with all it holds; a lost connection has nothing left to drop.
            if holding and self._schema and not self._embedded and not holding.broken:
                drop_schema(holding, self._schema)
        finally:
            for connection in (searching, holding):
                if connection:
                    connection.close()
            self._schema = ""
            if isinstance(self._server, EmbeddedServer):
                self._server.stop()

    @property
    def schema(self) -> str:
        """The schema of this run's tables; empty while it has none."""
        return self._schema

    @property
    def _embedded(self) -> bool:
        return isinstance(self._server, EmbeddedServer)

    def _open(self) -> Connection:
        if self._connection is None:
            raise Blocked("the store is not open", remedy="prepare it before anything else")
        if self._pending:
            # Whoever else wants the session has it after the block of questions that is under way.
            self._pending.receive()
        return self._connection

    def _furnish(self, connection: Connection, dims: int) -> None:
        vector = ready_server(connection).vector
        self._extension = vector.schema if vector else "public"
        self._schema = claim_schema(connection)
        self._dims = dims
        storage = "PLAIN" if dims <= WIDEST_PLAIN else "EXTERNAL"
        with database_errors("preparing its tables"):
            self._set_up(connection)
            tables = _sql("schema").replace(":dims", str(dims)).replace(":storage", storage)
            connection.execute(tables.encode())
            row = connection.execute("SELECT 'vector'::regtype::oid, 'vector[]'::regtype::oid").fetchone()
        assert row is not None
        self._vector, self._vectors = row

    def _session(self) -> Connection:
        connection = connect(self._dsn)
        with database_errors("opening a session"):
            self._set_up(connection)
        return connection

    def _set_up(self, connection: Connection) -> None:
        own = _score_settings(self._weights)
        places = (self._schema, self._extension, "pg_catalog")
        path = ", ".join('"' + name.replace('"', '""') + '"' for name in places)
        values = {**SESSION, **own, "search_path": path}
        names, texts = list(values), list(values.values())
        query = "SELECT set_config(n, v, false) FROM unnest(%s::text[], %s::text[]) AS s (n, v)"
        connection.execute(query, (names, texts))

    def _prepare_statement(self, connection: Connection) -> None:
        types = (wire.INT4_ARRAY, self._vectors, wire.TEXT_ARRAY, wire.TIMESTAMPTZ_ARRAY, 20)
        text = _sql("cosine" if self._weights.cosine_only else "recall")
        with database_errors("preparing its statement"):
            connection.pgconn.send_prepare(STATEMENT, text.encode(), types)
            push(connection.pgconn)
        self._checked(PendingBlock(connection.pgconn).receive())
        self._prepared = True

    def _packed(self, queries: Sequence[Query], k: int) -> Any:
        # The library's types forget that a parameter may be null, hence Any.
        vectors = checked_questions(queries, self._dims)
        texts = moments = None
        if not self._weights.cosine_only:
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
        return scopes, wire.vector_array(vectors, self._vector), texts, moments, k.to_bytes(8, "big")

    def _send(self, parameters: Any) -> PendingBlock:
        connection = self._open()
        if not self._prepared:
            raise Blocked("the store was not told that all segments are in", remedy="call ready() before searching")
        with database_errors("searching"):
            connection.pgconn.send_query_prepared(STATEMENT, parameters, (1,) * 5, 1)
            push(connection.pgconn)
        self._pending = PendingBlock(connection.pgconn)
        return self._pending

    def _checked(self, result: PGresult) -> PGresult:
        from psycopg import OperationalError, errors
        from psycopg.pq import ConnStatus, ExecStatus

        if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
            with database_errors("searching"):
                if self._open().pgconn.status != ConnStatus.OK:
                    raise OperationalError(result.get_error_message())
                raise errors.error_from_result(result)
        return result

    def _plan(self) -> str:
        if not self._prepared:
            return UNASKED
        statement = b"EXPLAIN (COSTS OFF) EXECUTE recall ('{}', '{}', '{}', '{}', 50)"
        with database_errors("explaining its plan"):
            rows: list[Any] = self._open().execute(statement).fetchall()
        return "\n".join(
            line if len(line) <= WIDEST_PLAN_LINE else line[: WIDEST_PLAN_LINE - 1] + "…" for (line,) in rows
        )


def _score_settings(weights: Weights) -> dict[str, str]:
    """The settings that the score reads."""
    factors = {f"weight_{part}": repr(getattr(weights, part)) for part in PARTS}
    return {f"recallbench.{name}": value for name, value in (factors | CONSTANTS).items()}


def _plan_of(weights: Weights) -> str:
    """The pattern of every plan: exact over the segments, and over the postings unless vectors alone count."""
    words = "!" if weights.cosine_only else "="
    return rf"(?!.*\b(?:hnsw|ivfflat)\b)(?{words}.*\bposting).*\bScan\b[^\n]* on segments\b.*"


def _unpacked(result: PGresult) -> Iterator[list[Hit]]:
    for row in range(result.ntuples):
        ids, scores = result.get_value(row, 0), result.get_value(row, 1)
        yield wire.hits(ids, scores) if ids and scores else []


def _sql(name: str) -> str:
    return resources.files("recallbench.stores").joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")
