"""The reference store: plain Postgres with pgvector, and a score of our own in SQL.

    score = cosine x (1 - cosine distance)
          + bm25 x BM25 / the best BM25 of the scope for this question (0 where no word is shared)
          + recency x 2^(-age / half_life), aged from the question's date on, else from the scope's last session
          + importance x the segment's importance, from importance_threshold on
          + graph x 1 where the session before or after is among the graph_best by the parts above

The SQL lies in `sql/`; weights and constants are settings of the session, read back from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self

from recallbench.errors import Blocked, UsageError
from recallbench.progress import Progress, Silent, counted
from recallbench.stores.options import StoreOption
from recallbench.stores.pgvector.index_choice import (
    EXACT_SEARCH,
    OPTIONS,
    IndexChoice,
    check_together,
    limits,
)
from recallbench.stores.pgvector.lexicon import build_lexicon
from recallbench.stores.pgvector.prepared_search import PreparedSearch
from recallbench.stores.pgvector.score_constants import CONSTANTS, ScoreConstants, check_constants
from recallbench.stores.pgvector.score_constants import OPTIONS as OF_SCORE
from recallbench.stores.pgvector.sessions import Sessions
from recallbench.stores.pgvector.settings import SESSION, score_settings
from recallbench.stores.pgvector.statements import sql
from recallbench.stores.pgvector.vector_index import VectorIndex, index_states
from recallbench.stores.pgvector.visible import lexicon, with_time
from recallbench.stores.pgvector.weights import DEFAULT_WEIGHTS, PARTS, WEIGHTS, Weights
from recallbench.stores.postgres import wire
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.postgres.postgres import ServerFacts, database_errors, server_facts
from recallbench.stores.postgres.status import server_status
from recallbench.stores.postgres.tenancy import schema_bytes
from recallbench.stores.request import StoreRequest, StoreStatus
from recallbench.stores.statement import Statement, exactly
from recallbench.stores.store import Hit, Item, Matrix, Query, Servers, Store
from recallbench.stores.vectors import check_importances, checked_rows

if TYPE_CHECKING:
    from psycopg import Connection

REVISION = 1
"""Counts up whenever the same input may rank otherwise."""
WIDEST_PLAIN = 1_900
"""Dimensions up to which a vector fits into a row's page; wider ones are kept out of line."""
INDEX = "btree on (scope, id); no vector index: every segment of the scope is compared, exactly"
UNASKED = "nothing was searched"
"""The plan of a store that no question was put to."""


class PgvectorStore(Store):
    """Search within a scope, exact or through an index of vectors, in a schema that lives as long as the store."""

    name = "pgvector"
    summary: ClassVar[str] = "the reference: Postgres with pgvector"
    options: ClassVar[tuple[StoreOption, ...]] = (WEIGHTS, *OF_SCORE, *OPTIONS)
    prefix_stable: bool = True
    filters_time: bool = True
    servers: ClassVar[Servers] = "several"
    never_cold: ClassVar[str] = ""

    @classmethod
    def open(cls, request: StoreRequest) -> Self:
        weights, choice = WEIGHTS.read(request.options), IndexChoice.read(request.options)
        constants = ScoreConstants.read(request.options)
        if request.dsn:
            return cls(request.dsn, weights, request.progress, choice, constants)
        server = EmbeddedServer()
        server.begin()
        return cls(server, weights, request.progress, choice, constants)

    @classmethod
    def check_together(cls, options: Mapping[str, Any]) -> None:
        check_constants(options)
        check_together(options)

    @classmethod
    def limits(cls, options: Mapping[str, Any], calls: Sequence[int]) -> tuple[str, ...]:
        return tuple(limits(IndexChoice.read(options), calls))

    @classmethod
    def keeps_prefix(cls, options: Mapping[str, Any]) -> bool:
        return IndexChoice.read(options).is_exact

    @classmethod
    def status(cls, request: StoreRequest) -> StoreStatus:
        return server_status(request.dsn, request.environ)

    @classmethod
    def states(cls, name: str, options: Mapping[str, Any]) -> tuple[Statement, ...]:
        weights, choice = WEIGHTS.read(options), IndexChoice.read(options)
        server, vector = r"PostgreSQL (?P<postgres>\S+)", r"(?P<vector>\S+)"
        settings = exactly(score_settings(weights, ScoreConstants.read(options)) | SESSION | choice.settings)
        version = rf"recallbench-pgvector/{REVISION} \({server}, pgvector {vector}\)"
        worked = [{"index": re.escape(INDEX), "plan": _plan_of(weights)}] if choice.is_exact else index_states(choice)
        places = [("given by DSN", r"(?P<dsn>.+)")]
        if not options.get("dsn"):
            places.insert(0, ("embedded", "private socket"))
        return tuple(
            Statement(
                version,
                settings,
                {"server": f"{server}, {where}", "connection": connection, "pgvector": vector, **evidence},
            )
            for where, connection in places
            for evidence in worked
        )

    @classmethod
    def score_range(cls, options: Mapping[str, Any]) -> tuple[float, float]:
        weights = WEIGHTS.read(options)
        return -weights.cosine, sum(getattr(weights, part) for part in PARTS)

    def __init__(
        self,
        server: EmbeddedServer | str,
        weights: Weights = DEFAULT_WEIGHTS,
        progress: Progress | None = None,
        choice: IndexChoice = EXACT_SEARCH,
        constants: ScoreConstants = CONSTANTS,
    ) -> None:
        """`server` is a DSN, or an embedded server that becomes this store's own: it is stopped on close."""
        self._server = server
        self._weights = weights
        self._choice, self._constants = choice, constants
        self.prefix_stable = choice.is_exact
        self._index: VectorIndex | None = None
        self._progress = progress or Silent()
        self._sessions = Sessions(server, {**SESSION, **score_settings(weights, constants), **choice.settings})
        self._search: PreparedSearch | None = None
        self._dims = 0
        self._rows = 0
        self._scopes: dict[int, None] = {}
        self._timed = False

    def prepare(self, dims: int) -> None:
        if not 1 <= dims <= 16_000:
            raise UsageError(
                "the store can't hold these vectors", expected="1 to 16000 numbers each", found=f"{dims} numbers"
            )
        try:
            connection = self._sessions.begin()
            storage = "PLAIN" if dims <= WIDEST_PLAIN else "EXTERNAL"
            if not self._choice.is_exact:
                self._index = VectorIndex(self._choice, dims)
                self._index.check(self._facts.vector.version if self._facts.vector else "")
            with database_errors("preparing its tables"):
                tables = sql("schema").replace(":dims", str(dims)).replace(":storage", storage)
                connection.execute(tables.encode())
                if self._index:
                    # No other index may answer in its place.
                    connection.execute("ALTER TABLE segments DROP CONSTRAINT segments_pkey")
            self._dims = dims
        except BaseException:
            self.close()
            raise

    def expect_time(self) -> None:
        with database_errors("preparing its tables"):
            self._open().execute(sql("schema_timed").encode())
        self._timed = True

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        rows = checked_rows(items, vectors, self._dims)
        check_importances(items)
        self._rows += len(items)
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
                    build_lexicon(
                        lexicon(timed=self._timed),
                        tuple(self._scopes),
                        connection,
                        self._sessions.another,
                        advance,
                    )
                connection.execute("ANALYZE occurrences" if self._timed else "ANALYZE postings")
            connection.execute("ANALYZE segments")
        if self._index:
            with self._progress.stage(f"building {self._choice.kind}", self._rows, "segments") as advance:
                self._index.build(connection, self._rows)
                advance(self._rows)
        self._search = self._prepared(connection)
        if self._index and not self._index.is_used(plan := self._search.plan()):
            self._progress.note(f"{self.name}: the plan does not use the index that was asked for: {plan}")

    def search(self, query: Query, k: int) -> list[Hit]:
        return next(self.search_many([query], k))

    def search_many(self, queries: Sequence[Query], k: int) -> Iterator[list[Hit]]:
        self._open()
        if self._search is None:
            raise Blocked("the store was not told that all segments are in", remedy="call ready() before searching")
        yield from self._search.search_many(queries, k)

    @property
    def one_caller(self) -> str:
        return ""

    def another_caller(self) -> PgvectorStore:
        self._open()
        handle = copy(self)
        handle._sessions, handle._search = self._sessions.for_another_caller(), None
        if self._search is not None:
            try:
                handle._search = handle._prepared(handle._sessions.searching)
            except BaseException:
                handle.close()
                raise
        return handle

    @property
    def call_seconds(self) -> float:
        return self._search.clock.seconds if self._search else 0.0

    def round_trip(self) -> bool:
        self._open()
        if self._search is not None:
            self._search.round_trip()
        return self._search is not None

    def chill(self) -> str:
        """A fresh session, which has read no catalogue and made no plan; the server's own cache stays warm."""
        self._open()
        self._search = self._prepared(self._sessions.renew())
        return ""

    def version(self) -> str:
        facts = self._facts
        vector = facts.vector.version if facts.vector else "?"
        return f"recallbench-pgvector/{REVISION} (PostgreSQL {facts.postgres}, pgvector {vector})"

    def settings(self) -> Mapping[str, str]:
        own = score_settings(self._weights, self._constants)
        with database_errors("reading its settings back"):
            rows = self._open().execute(
                "SELECT n, current_setting(n) FROM unnest(%s::text[]) AS n",
                ([*own, *SESSION, *self._choice.settings],),
            )
            return dict(rows.fetchall())

    def evidence(self) -> Mapping[str, str]:
        facts = self._facts
        plan = self._search.plan() if self._search else UNASKED
        worked = self._index.described(self._open(), plan) if self._index else {"index": INDEX}
        return {
            "server": f"PostgreSQL {facts.postgres}, {'embedded' if self._sessions.embedded else 'given by DSN'}",
            "connection": "private socket" if self._sessions.embedded else self._sessions.address,
            "pgvector": facts.vector.version if facts.vector else "?",
            **worked,
            "plan": plan,
        }

    def stored_bytes(self) -> Mapping[str, int]:
        return schema_bytes(self._open(), self.schema)

    def server_cpu_seconds(self) -> float | None:
        return self._sessions.server_cpu_seconds()

    def cancel(self) -> None:
        self._sessions.cancel()

    def close(self) -> None:
        self._search, schema = None, self.schema
        if why := self._sessions.close():
            self._progress.note(f"{schema} stays on the server, since {why}; the next run there removes it")

    @property
    def schema(self) -> str:
        """The schema of this run's tables; empty while it has none."""
        return self._sessions.schema

    @property
    def _facts(self) -> ServerFacts:
        return server_facts(self._open())

    def _open(self) -> Connection:
        if self._search:
            self._search.settle()
        return self._sessions.searching

    def _prepared(self, connection: Connection) -> PreparedSearch:
        whole = "cosine" if self._weights.cosine_only else "recall"
        text = with_time(self._index.statement if self._index else sql(whole), timed=self._timed)
        return PreparedSearch(
            connection,
            text,
            self._dims,
            reads_words=not self._weights.cosine_only,
            timed=self._timed,
        )


def _plan_of(weights: Weights) -> str:
    """The pattern of every plan: exact over the segments, and over the postings unless vectors alone count."""
    words = "!" if weights.cosine_only else "="
    return rf"(?!.*\b(?:hnsw|ivfflat)\b)(?{words}.*\bposting).*\bScan\b[^\n]* on segments\b.*"
