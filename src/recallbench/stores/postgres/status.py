"""Whether a Postgres server could be used now."""

from __future__ import annotations

from collections.abc import Mapping

from recallbench.stores.postgres.binaries import find_install
from recallbench.stores.postgres.postgres import NEEDS, check_age, connect, redacted, server_facts, unmet_requirement
from recallbench.stores.request import StoreStatus


def server_status(dsn: str | None, environ: Mapping[str, str]) -> StoreStatus:
    """Return what the server of `dsn` has and lacks; without one, where the embedded server's programs lie."""
    if not dsn:
        install = find_install(environ)
        return StoreStatus(True, f"embedded Postgres with pgvector ({install.root.name}), started for each run")
    with connect(dsn) as connection:
        check_age(connection)
        facts = server_facts(connection)
    lack = unmet_requirement(facts)
    if lack:
        return StoreStatus(False, f"{lack[0]}: {lack[1]} (needs {NEEDS})", lack[2])
    vector = f"pgvector {facts.vector.version}" if facts.vector else f"pgvector {facts.offered} (not yet installed)"
    pgmnemo = f"pgmnemo {facts.pgmnemo}" if facts.pgmnemo else "no pgmnemo"
    versions = (f"PostgreSQL {facts.postgres}", f"pgvector {facts.vector.version if facts.vector else facts.offered}")
    return StoreStatus(True, f"{versions[0]}, {vector}, {pgmnemo} ({redacted(dsn)})", decides=versions)
