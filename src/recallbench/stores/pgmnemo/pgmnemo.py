"""The system the protocol was written for: the Postgres extension pgmnemo, whichever version the server has.

What the version can do is read from the server's catalogue. A statement makes one call, or many of one project after
each other, so that the network adds little. Lessons of a run lie in projects of their own and go when it ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Self

from recallbench.errors import Blocked, UsageError
from recallbench.progress import Progress, Silent, counted
from recallbench.protocol.frozen import load
from recallbench.stores.call_clock import CallClock
from recallbench.stores.options import StoreOption
from recallbench.stores.pgmnemo.lessons import (
    DATES,
    ROLE,
    TABLE,
    Dates,
    LessonTable,
    check_visible,
    copy_lessons,
    count_others,
    padded,
    read_table,
    storable,
    vector_indexes,
)
from recallbench.stores.pgmnemo.notices import Notices
from recallbench.stores.pgmnemo.options import CREATED_AT, FUNCTION, ROW_DATES
from recallbench.stores.pgmnemo.projects import Projects, claim_projects, release, remove_rows
from recallbench.stores.pgmnemo.rights import GRANT, check_rights
from recallbench.stores.pgmnemo.session import INDEX_SETTINGS, STEADYING, TENANT, UNHURRIED, set_up_session
from recallbench.stores.pgmnemo.signature import CANONICAL, SCHEMA, Signature, read_signature, settings_of_functions
from recallbench.stores.postgres.postgres import (
    connect,
    database_errors,
    has_extension,
    ready_server,
    redacted,
    server_facts,
)
from recallbench.stores.postgres.status import server_status
from recallbench.stores.postgres.tenancy import schema_bytes
from recallbench.stores.request import StoreRequest, StoreStatus
from recallbench.stores.statement import Statement, exactly
from recallbench.stores.store import Hit, Item, Matrix, Query, Servers, Store
from recallbench.stores.vectors import checked_questions, checked_rows

if TYPE_CHECKING:
    from psycopg import Connection

REMEDY = "CREATE EXTENSION pgmnemo VERSION '…' CASCADE; in the database that the DSN names"
AT_ONCE = 64
"""Calls in one statement."""
POOL = 4
"""Candidates that every version fuses, at least, for each item that it is asked for. A scope within that pool is scored
alike for every k; in a larger one an item's place among the candidates, and so its score, may depend on k."""
PROBE = 200
"""Characters of a segment that serve as a question to find out whether anything is recalled."""


class PgmnemoStore(Store):
    """The extension behind one of its retrieval functions."""

    name = "pgmnemo"
    summary: ClassVar[str] = "the extension pgmnemo, which the protocol was written for"
    options: ClassVar[tuple[StoreOption, ...]] = (FUNCTION, ROW_DATES)
    servers: ClassVar[Servers] = "one"
    never_cold: ClassVar[str] = ""
    grows: bool = True

    @classmethod
    def open(cls, request: StoreRequest) -> Self:
        options = request.options
        return cls(request.dsn or "", FUNCTION.read(options), ROW_DATES.read(options), request.progress)

    @classmethod
    def status(cls, request: StoreRequest) -> StoreStatus:
        if not request.dsn:
            return StoreStatus(
                False,
                "no --dsn or PGMNEMO_DSN names a server",
                f"name a server with the version to measure by --dsn or PGMNEMO_DSN; there: {REMEDY}",
            )
        status = server_status(request.dsn, request.environ)
        if status.ready and not has_extension(request.dsn, "pgmnemo"):
            return StoreStatus(False, f"{status.detail}: the database has no extension pgmnemo", REMEDY)
        return status

    @classmethod
    def states(cls, name: str, options: Mapping[str, Any]) -> tuple[Statement, ...]:
        canonical = {setting: value for setting, value in load().settings.items() if setting != TENANT}
        settings = exactly(canonical) | {TENANT: r"[0-9]+|unset"}
        # Where pgvector does not know them they are unset; an earlier release asked for strict order.
        settings |= {"hnsw.ef_search": "1000|unset", "hnsw.iterative_scan": "relaxed_order|strict_order|unset"}
        further = exactly({re.escape(setting): value for setting, value in (STEADYING | UNHURRIED).items()})
        evidence = {
            "server": r"PostgreSQL \S+, given by DSN",
            "connection": r"(?P<dsn>.+)",
            "pgvector": r"\S+",
            "function": rf"{SCHEMA}\.{re.escape(FUNCTION.read(options))}\(.*\)",
            "query text": ".+",
            "index": ".+",
            "plan": ".+",
            "created_at": re.escape(CREATED_AT.get(ROW_DATES.read(options), "")),
            "other rows in the table": r"[0-9]+|\?",
            "told by the extension": ".+",
        }
        # Earlier releases did not tell these.
        later = {
            "function body": "md5 [0-9a-f]{32}",
            "recallable": r"[0-9]+ of (?P<segments>[0-9]+) segments, each scope asked for all of its own",
            "settings put back to the extension's defaults": ".+",
        }
        others = {r"pgmnemo\.[a-z_0-9]+": ".*"}
        return (Statement(r"[0-9]+\.[0-9].*", settings, evidence, further | others, later),)

    @classmethod
    def scores_alike(cls, size: int, k: int, options: Mapping[str, Any], evidence: Mapping[str, str]) -> bool:
        # With the corpus' dates recency goes on between two calls.
        return size <= POOL * k and ROW_DATES.read(options) == DATES[0]

    def __init__(
        self, dsn: str, function: str = CANONICAL, dates: Dates = "constant", progress: Progress | None = None
    ) -> None:
        self._dsn = dsn
        self._function = function
        self._dates: Dates = dates
        self._progress = progress or Silent()
        self._connection: Connection | None = None
        self._guard: Connection | None = None
        """The session that holds the projects, while `_connection` is another one that only searches."""
        self._projects: Projects | None = None
        self._owns = True
        """Whether its end is that of the projects; not that of a handle for another caller."""
        self._table = LessonTable((), 0, False)
        self._signature = Signature("", "", (), "", "", "")
        self._dims = self._added = 0
        self._items: dict[int, int] = {}
        """Item id by lesson id."""
        self._tenant = ""
        self._settings: tuple[str, ...] = ()
        self._inherited: dict[str, str] = {}
        """Settings of the extension that the server, the role or the DSN brought along, as found."""
        self._probes: dict[int, tuple[Query, int]] = {}
        """By scope, a question made of its first segment, and the number of its segments."""
        self._recalled = 0
        self._notices, self._clock = Notices(), CallClock()

    def prepare(self, dims: int) -> None:
        if not self._dsn:
            raise Blocked(
                "no server with the extension pgmnemo is named",
                expected="--dsn, or PGMNEMO_DSN",
                remedy=f"name a server with the version to measure; there: {REMEDY}",
            )
        try:
            self._connection = connect(self._dsn)
            self._furnish(self._connection, dims)
        except BaseException:
            self.close()
            raise

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        connection, projects = self._open()
        if not items:
            return
        rows = checked_rows(items, vectors, self._dims)
        self._as_tenant(connection, projects.number(items[0].scope))
        with self._progress.stage("taking in lessons", len(items), "lessons") as advance:
            self._items |= copy_lessons(
                connection, self._table, projects, items, padded(rows, self._table.dims), self._dates, advance
            )
        self._added += len(items)
        for item, row in zip(items, rows, strict=True):
            probe, size = self._probes.get(item.scope, (Query(item.scope, item.text[:PROBE], row), 0))
            self._probes[item.scope] = probe, size + 1

    def ready(self) -> None:
        connection, projects = self._open()
        self._as_tenant(connection, None)
        check_visible(connection, self._table, projects, self._added)
        with database_errors("gathering statistics"):
            # Of a table that is not its own a role is only warned; autovacuum would do it at a moment of its own.
            connection.execute(f"SET client_min_messages = error; ANALYZE {TABLE}; RESET client_min_messages".encode())
        before = self._notices.counts.copy()
        with self._progress.stage("recalling what was put in", len(self._probes), "scopes") as advance:
            for probe, size in counted(self._probes.values(), advance):
                hits = len(self.search(probe, size))
                if not hits:
                    raise Blocked(
                        f"{SCHEMA}.{self._function} recalls nothing of what was put in",
                        expected=f"some of the {size} segments of a scope",
                        found="none, though all are in the table, active and verified",
                        remedy="look for what hides them: policies, triggers, or the function's own conditions",
                    )
                self._recalled += hits
        self._notices.counts = before

    def search(self, query: Query, k: int) -> list[Hit]:
        connection, projects = self._open()
        vector = padded(checked_questions([query], self._dims), self._table.dims)[0]
        project = projects.number(query.scope)
        values = {**_shared(project, k), "query_embedding": vector, "query_text": storable(query.text)}
        with database_errors(f"calling {SCHEMA}.{self._function}", GRANT):
            self._as_tenant(connection, project)
            cursor = connection.cursor(binary=True)
            with self._clock:
                rows = cursor.execute(self._signature.call.encode(), values, prepare=True).fetchall()
        self._notices.refuse_degraded(self._function)
        return [Hit(self._items[lesson], score) for lesson, score in rows]

    def search_many(self, queries: Sequence[Query], k: int) -> Iterator[list[Hit]]:
        connection, projects = self._open()
        for scope, of_scope in groupby(queries, key=lambda query: query.scope):
            scope_queries, project = list(of_scope), projects.number(scope)
            self._as_tenant(connection, project)
            for start in range(0, len(scope_queries), AT_ONCE):
                block = scope_queries[start : start + AT_ONCE]
                vectors = list(padded(checked_questions(block, self._dims), self._table.dims))
                values = {**_shared(project, k), "vectors": vectors, "texts": [storable(query.text) for query in block]}
                with database_errors(f"calling {SCHEMA}.{self._function}", GRANT):
                    cursor = connection.cursor(binary=True)
                    rows = cursor.execute(self._signature.calls.encode(), values, prepare=True).fetchall()
                self._notices.refuse_degraded(self._function)
                for lessons, scores in rows:
                    yield [
                        Hit(self._items[lesson], score)
                        for lesson, score in zip(lessons or (), scores or (), strict=True)
                    ]

    def chill(self) -> str:
        """A fresh session, which has read no catalogue and made no plan; the server's own cache stays warm."""
        old, _ = self._open()
        connection = connect(self._dsn)
        self._set_up(connection)
        if self._guard is not None:
            old.close()
        self._guard = self._guard or old
        self._connection = connection
        self._tenant = ""
        return ""

    @property
    def one_caller(self) -> str:
        return ""

    def another_caller(self) -> PgmnemoStore:
        self._open()
        handle = copy(self)
        handle._owns, handle._guard, handle._tenant = False, None, ""
        handle._inherited, handle._notices, handle._clock = {}, Notices(), CallClock()
        handle._connection = connect(self._dsn)
        try:
            handle._set_up(handle._connection)
        except BaseException:
            handle.close()
            raise
        return handle

    @property
    def call_seconds(self) -> float:
        return self._clock.seconds

    def round_trip(self) -> bool:
        connection, _ = self._open()
        with database_errors("answering a statement without work"):
            connection.execute("SELECT 1", prepare=True).fetchall()
        return True

    def version(self) -> str:
        connection, _ = self._open()
        with database_errors("asking the extension for its version", GRANT):
            row = connection.execute("SELECT pgmnemo.version()::text").fetchone()
        return str(row[0]) if row else ""

    def settings(self) -> Mapping[str, str]:
        connection, _ = self._open()
        names = sorted({*load().settings, *self._settings, *INDEX_SETTINGS, *UNHURRIED})
        with database_errors("reading its settings back"):
            rows = connection.execute(
                "SELECT n, coalesce(nullif(current_setting(n, true), ''), 'unset') FROM unnest(%s::text[]) AS n",
                (names,),
            )
            return dict(rows.fetchall())

    def evidence(self) -> Mapping[str, str]:
        connection, projects = self._open()
        facts = server_facts(connection)
        indexes, others = vector_indexes(connection), count_others(connection, projects)
        return {
            "server": f"PostgreSQL {facts.postgres}, given by DSN",
            "connection": redacted(self._dsn),
            "pgvector": facts.vector.version if facts.vector else "?",
            "function": self._signature.stated,
            "function body": f"md5 {self._signature.body_md5}",
            "query text": "given" if "query_text" in self._signature.takes else "not taken by this function",
            "index": "\n".join(indexes) or "no vector index",
            "plan": "the function's own, which the server does not tell",
            "recallable": f"{self._recalled} of {self._added} segments, each scope asked for all of its own",
            "settings put back to the extension's defaults": ", ".join(
                f"{name} (was {value})" for name, value in sorted(self._inherited.items())
            )
            or "none",
            "created_at": CREATED_AT[self._dates],
            "other rows in the table": str(others),
            "told by the extension": "\n".join(self._notices.lines) or "nothing",
        }

    def stored_bytes(self) -> Mapping[str, int]:
        # Of the extension's whole schema: rows of others that lie there are in it, and their number is in the evidence.
        connection, _ = self._open()
        return {f"{what} of the schema {SCHEMA}": size for what, size in schema_bytes(connection, SCHEMA).items()}

    def close(self) -> None:
        from psycopg.pq import TransactionStatus

        searching, self._connection = self._connection, None
        holding, self._guard = self._guard or searching, None
        projects, self._projects = self._projects, None
        try:
            if self._owns and holding and projects and not holding.broken and not holding.closed:
                if holding.info.transaction_status == TransactionStatus.ACTIVE:
                    # Interrupted in the middle of a command, it takes no other one.
                    holding.close()
                    holding = connect(self._dsn)
                with database_errors("removing its lessons"):
                    self._as_tenant(holding, None)
                    remove_rows(holding, projects)
                    release(holding, projects)
        except Blocked as blocked:
            if holding is None or not holding.broken:
                raise
            # It sat idle while another session searched, and learns only now that it was cut off.
            why = blocked.found.partition(";")[0]
            self._progress.note(f"its lessons stay on the server, since {why}; the next run there removes them")
        finally:
            for connection in filter(None, (searching, holding)):
                connection.close()

    def _open(self) -> tuple[Connection, Projects]:
        if self._connection is None or self._projects is None:
            raise Blocked("the store is not open", remedy="prepare it before anything else")
        return self._connection, self._projects

    def _furnish(self, connection: Connection, dims: int) -> None:
        facts = ready_server(connection)
        if not facts.pgmnemo:
            raise Blocked(
                "the database has no extension pgmnemo",
                expected="pgmnemo 0.2.1 or later",
                found=f"PostgreSQL {facts.postgres} without it",
                remedy=REMEDY,
            )
        check_rights(connection)
        self._signature = read_signature(connection, self._function)
        self._table = read_table(connection)
        if self._table.dims != -1 and dims > self._table.dims:
            raise UsageError(
                "the extension can't hold these vectors",
                expected=f"at most {self._table.dims} numbers each",
                found=f"{dims} numbers",
                remedy="choose another --embedder",
            )
        self._dims = dims
        self._settings = settings_of_functions(connection)
        self._set_up(connection)
        self._as_tenant(connection, None)
        self._projects = claim_projects(connection)

    def _set_up(self, connection: Connection) -> None:
        self._inherited |= set_up_session(connection, self._settings)
        connection.add_notice_handler(self._notices.note)

    def _as_tenant(self, connection: Connection, project: int | None) -> None:
        tenant = "" if project is None else str(project)
        if tenant != self._tenant or project is None:
            connection.execute("SELECT set_config(%s, %s, false)", (TENANT, tenant))
            self._tenant = tenant


def _shared(project: int, k: int) -> dict[str, Any]:
    return {"k": k, "role_filter": ROLE, "project_id_filter": project}
