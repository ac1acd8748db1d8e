"""The settings that the extension is asked under: the protocol's, and those that keep calls apart from each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recallbench.protocol.frozen import load
from recallbench.stores.postgres.postgres import database_errors, server_facts

if TYPE_CHECKING:
    from psycopg import Connection

TENANT = "pgmnemo.tenant_id"
"""The one of the protocol's settings that varies: the project that is written or asked. The extension compares it with
text."""
STEADYING = {
    "pgmnemo.ef_search": "500",  # what the versions take at most; left alone they look at 100 candidates
    "pgmnemo.track_recall_recency": "off",  # versions that write down each recall would change what they search
    "pgmnemo.bm25_budget_ms": "60000",  # versions that drop the lexical part after 250 ms would rank by the clock
}
"""Set where a function reads them, so that depth 50 can be returned and no call changes the next one."""
INDEX_SETTINGS = {"hnsw.ef_search": "1000", "hnsw.iterative_scan": "relaxed_order"}
"""Settings of pgvector: the extension's own way to set the first fails in silence. The second came with pgvector 0.8;
strict order would leave out what it finds late."""
UNHURRIED = {"statement_timeout": "0"}
"""Versions that meet a timeout in their lexical part swallow it, and rank by vectors alone."""


def set_up_session(connection: Connection, settings: Sequence[str]) -> dict[str, str]:
    """Put a session's settings in force. Returns those that were put back to the extension's defaults, as they were.

    `settings` are the extension's own that its functions read.
    """
    from pgvector.psycopg import register_vector

    vector = server_facts(connection).vector
    canonical = {name: value for name, value in load().settings.items() if name != TENANT}
    ours = {*canonical, *STEADYING, TENANT}
    with database_errors("reading the settings it starts with"):
        inherited = connection.execute(
            "SELECT n, current_setting(n, true) FROM unnest(%s::text[]) AS n WHERE current_setting(n, true) <> ''",
            ([name for name in settings if name not in ours],),
        ).fetchall()
    # An empty one counts as unset; RESET would bring back what the role or the database has.
    defaults = {name: "" for name, _ in inherited}
    steadying = {name: value for name, value in STEADYING.items() if name in settings}
    with database_errors("setting the session up"):
        # A type has to be loaded once for pgvector's own settings to be known.
        connection.execute("SELECT NULL::text::" + _quoted(vector.schema if vector else "public") + ".vector")
        known = connection.execute(
            "SELECT name FROM pg_settings WHERE name = ANY(%s)", (list(INDEX_SETTINGS),)
        ).fetchall()
        # One that waits for texts to be embedded, or holds the rows while another searches, is not ended for it.
        values = (
            {"idle_session_timeout": "0"}
            | defaults
            | UNHURRIED
            | canonical
            | steadying
            | {name: INDEX_SETTINGS[name] for (name,) in known}
        )
        connection.execute(
            "SELECT set_config(n, v, false) FROM unnest(%s::text[], %s::text[]) AS s (n, v)",
            (list(values), list(values.values())),
        )
        if vector:
            # The functions name pgvector's operators without a schema.
            connection.execute(
                """SELECT set_config('search_path', concat_ws(', ', current_setting('search_path'), %s::text),
                                     false) WHERE to_regtype('vector') IS NULL""",
                (_quoted(vector.schema),),
            )
        register_vector(connection)
    return dict(inherited)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
