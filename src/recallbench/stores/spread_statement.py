"""The statement of a store that is spread over several servers, from that of the same store on one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recallbench.stores.statement import Statement

SCOPES = "scopes"
"""The evidence that says how many scopes lie on which server."""
CONNECTION, SERVER = "connection", "dsn"
"""The evidence that names a server, and the group of its pattern that the option is compared with."""


def on_server(name: str, number: int) -> str:
    """Return what evidence of a further server is called; it is there where it differs from that of the first."""
    return f"{name} on server {number}"


def server_group(number: int) -> str:
    """Return the group that stands for the address of a server."""
    return SERVER if number == 1 else f"{SERVER}_{number}"


def dealt_out(counts: Sequence[str]) -> str:
    """Return in words how many scopes lie on each server."""
    return "dealt out in turn: " + ", ".join(f"{count} on server {number}" for number, count in enumerate(counts, 1))


def spread_states(statements: Sequence[Statement], servers: int) -> tuple[Statement, ...]:
    """Return what the same store states when its scopes lie on that many servers."""
    return tuple(_spread(statement, servers) for statement in statements)


def _spread(statement: Statement, servers: int) -> Statement:
    own = {SCOPES: dealt_out(["[0-9]+"] * servers)}
    further = dict(statement.further_evidence)
    for number in range(2, servers + 1):
        for name, pattern in statement.evidence.items():
            pattern = pattern.replace(f"(?P<{SERVER}>", f"(?P<{server_group(number)}>")
            if name == CONNECTION:
                own[on_server(name, number)] = pattern
            else:
                further[re.escape(on_server(name, number))] = pattern
    return statement._replace(evidence={**statement.evidence, **own}, further_evidence=further)
