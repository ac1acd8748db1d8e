"""The sessions of one run on its server: all have the same settings, and see the tables of the run's own schema."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING

from recallbench.errors import Blocked
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.postgres.postgres import connect, database_errors, ready_server, redacted
from recallbench.stores.postgres.processes import cpu_seconds
from recallbench.stores.postgres.tenancy import claim_schema, drop_schema

if TYPE_CHECKING:
    from psycopg import Connection

PATIENCE = 2.0
"""Seconds in which a server may be told to end a statement."""


class Sessions:
    """A session that searches and, once that one is a fresh one, another that holds the schema.

    `server` is a DSN, or an embedded server that is stopped on close."""

    def __init__(self, server: EmbeddedServer | str, settings: Mapping[str, str]) -> None:
        self._server = server
        self.settings = settings
        """The settings of every session that is opened from now on."""
        self._owns = True
        """Whether its end is that of the schema and the server; not that of a handle for another caller."""
        self._searching: Connection | None = None
        self._guard: Connection | None = None
        """The session that holds the schema, while `_searching` is another one that only searches."""
        self._dsn = ""
        self._extension = ""
        """The schema that pgvector lies in."""
        self.schema = ""
        """The schema of this run's tables; empty while it has none."""

    @property
    def embedded(self) -> bool:
        """Whether the server is one of our own."""
        return isinstance(self._server, EmbeddedServer)

    def server_cpu_seconds(self) -> float | None:
        """Return the seconds of processors that the server has had, where it is one of our own and runs."""
        return cpu_seconds(self._server.pid) if isinstance(self._server, EmbeddedServer) else None

    @property
    def address(self) -> str:
        """The DSN that was given, without what is secret in it."""
        return redacted(str(self._server))

    @property
    def searching(self) -> Connection:
        """The session that searches; raises Blocked when there is none."""
        if self._searching is None:
            raise Blocked("the store is not open", remedy="prepare it before anything else")
        return self._searching

    def begin(self) -> Connection:
        """Open the first session, on a server that can serve, with a schema that it owns."""
        self._dsn = self._server if isinstance(self._server, str) else self._server.dsn
        connection = self._searching = connect(self._dsn)
        with database_errors("preparing its session"):
            # What it writes is gone after the run: a standby that stands still is not waited for.
            connection.execute("SET synchronous_commit = off")
        vector = ready_server(connection).vector
        self._extension = vector.schema if vector else "public"
        self.schema = claim_schema(connection)
        with database_errors("preparing its tables"):
            self._set_up(connection)
        return connection

    def another(self) -> Connection:
        """Open one more session; whoever asked for it closes it."""
        connection = connect(self._dsn)
        with database_errors("opening a session"):
            self._set_up(connection)
        return connection

    def renew(self) -> Connection:
        """Search in a fresh session from now on."""
        old, fresh = self.searching, self.another()
        if self._owns and self._guard is None:
            self._guard = old
        else:
            old.close()
        self._searching = fresh
        return fresh

    def for_another_caller(self) -> Sessions:
        """Return a session that searches in the same schema, and leaves it there on close."""
        handle = copy(self)
        handle._owns, handle._guard, handle._searching = False, None, self.another()
        return handle

    def cancel(self) -> None:
        """End the statement that the session runs in another thread, if it runs one."""
        if self._searching is not None:
            # A server that can't be reached has ended it, or is left alone.
            with suppress(Exception):
                self._searching.cancel_safe(timeout=PATIENCE)

    def close(self) -> str:
        """Leave nothing behind; return why the schema is still on the server, if it is. May be called twice."""
        searching, self._searching = self._searching, None
        holding, self._guard = self._guard or searching, None
        try:
            # An embedded server goes with all it holds.
            return self._drop(holding, searching) if self._owns and self.schema and not self.embedded else ""
        finally:
            for connection in (searching, holding):
                if connection:
                    connection.close()
            self.schema = ""
            if self._owns and isinstance(self._server, EmbeddedServer):
                self._server.stop()

    def _drop(self, *sessions: Connection | None) -> str:
        """Remove the schema in the first session that can, and return why none could."""
        why = "the connection was lost"
        for session in filter(None, sessions):
            # One that sat idle may have been cut off by whatever stands between, which it learns only now.
            if not session.broken:
                try:
                    drop_schema(session, self.schema)
                    return ""
                except Blocked as blocked:
                    why = blocked.found.partition(";")[0]
        return why

    def _set_up(self, connection: Connection) -> None:
        places = (self.schema, self._extension, "pg_catalog")
        path = ", ".join('"' + name.replace('"', '""') + '"' for name in places)
        # It may have to wait for texts to be embedded, and the one that holds the schema for all of a search.
        values = {**self.settings, "search_path": path, "idle_session_timeout": "0"}
        names, texts = list(values), list(values.values())
        query = "SELECT set_config(n, v, false) FROM unnest(%s::text[], %s::text[]) AS s (n, v)"
        connection.execute(query, (names, texts))
