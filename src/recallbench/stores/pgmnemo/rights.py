"""The rights that a role needs to fill and ask the extension."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recallbench.errors import Blocked
from recallbench.stores.pgmnemo.lessons import TABLE
from recallbench.stores.pgmnemo.signature import SCHEMA
from recallbench.stores.postgres.postgres import database_errors

if TYPE_CHECKING:
    from psycopg import Connection

GRANT = (
    f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {SCHEMA} TO …; GRANT SELECT ON ALL TABLES IN SCHEMA {SCHEMA} TO …; "
    "as the extension's owner"
)
RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE")
"""Recall itself updates rows in some versions; Postgres asks for the right even where that is switched off."""


def check_rights(connection: Connection) -> None:
    """Raise Blocked, with the statement that helps, where the role of this connection lacks a right."""
    with database_errors("asking for its rights"):
        row = connection.execute(
            """SELECT current_user, has_schema_privilege(%s, 'USAGE'),
                      CASE WHEN has_schema_privilege(%s, 'USAGE')
                           THEN ARRAY(SELECT r FROM unnest(%s::text[]) AS r WHERE NOT has_table_privilege(%s, r)) END,
                      CASE WHEN has_schema_privilege(%s, 'USAGE')
                           THEN has_sequence_privilege(pg_get_serial_sequence(%s, 'id'), 'USAGE') END,
                      has_database_privilege(current_database(), 'TEMP')""",
            (SCHEMA, SCHEMA, list(RIGHTS), TABLE, SCHEMA, TABLE),
        ).fetchone()
    assert row is not None
    role, schema, lacking, sequence, temporary = row
    if not schema:
        raise Blocked(
            f"the role {role} may not use the schema {SCHEMA}",
            found="no USAGE on it",
            remedy=f"GRANT USAGE ON SCHEMA {SCHEMA} TO {role}; and the rights on {TABLE}",
        )
    if not temporary:
        raise Blocked(
            f"the role {role} may not make temporary tables, which the extension's functions use",
            found="no TEMP on the database",
            remedy=f"GRANT TEMP ON DATABASE … TO {role};",
        )
    if lacking or sequence is False:
        rights = [*lacking, *(["USAGE on its sequence"] if sequence is False else [])]
        raise Blocked(
            f"the role {role} lacks rights on {TABLE}",
            expected=", ".join(RIGHTS) + " and USAGE on its sequence",
            found=f"no {', '.join(rights)}",
            remedy=f"GRANT {', '.join(RIGHTS)} ON {TABLE} TO {role}; "
            f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {SCHEMA} TO {role};",
        )
