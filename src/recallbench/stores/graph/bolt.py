"""A graph database that speaks Bolt, as the environment names it."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, LiteralString
from urllib.parse import urlsplit

from recallbench.confidential import remember_secrets, sanitised
from recallbench.errors import Blocked, InputError, UsageError
from recallbench.extras import require
from recallbench.patience import patience_of

URI, USER, PASSWORD, DATABASE = "NEO4J_URI", "NEO4J_USER", "NEO4J_PASSWORD", "NEO4J_DATABASE"
REMEDY = f"export {URI}=bolt://127.0.0.1:7687 {USER}=neo4j {PASSWORD}=…"
PORT = 7687
LONGEST_RETRY = 10.0
"""Seconds: for a server that is busy or hands over to another, not for one that is gone."""


class Bolt:
    """One connection pool; statements take their data as parameters only."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Raises Blocked, naming the variable, where no server is named, the driver is missing or nobody answers."""
        uri = environ.get(URI) or ""
        if not uri:
            raise Blocked(
                "no graph database is named", expected=f"{URI} in the environment", found="none", remedy=REMEDY
            )
        self.address = _address(uri)
        self._database = environ.get(DATABASE) or None
        self._driver = _driver(uri, environ, patience_of(environ))
        try:
            with bolt_errors("connecting", self.address):
                self._driver.verify_connectivity()
            self.run("connecting", "RETURN 1 AS there")  # in this very database
        except BaseException:
            self._driver.close()
            raise

    def __enter__(self) -> Bolt:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def agent(self) -> str:
        """Return the name that the server gives itself, with its version."""
        with bolt_errors("asking for its version", self.address):
            return str(self._driver.get_server_info().agent)

    def protocol(self) -> str:
        """The version of Bolt that is spoken."""
        with bolt_errors("asking for its version", self.address):
            return ".".join(map(str, self._driver.get_server_info().protocol_version))

    def run(self, doing: str, statement: LiteralString, **parameters: Any) -> list[dict[str, Any]]:
        """The rows of one statement, in one transaction that is tried again where the server says it may be."""
        with bolt_errors(doing, self.address):
            answer = self._driver.execute_query(statement, parameters, database_=self._database)
            return [record.data() for record in answer.records]

    def close(self) -> None:
        """Release the connections. May be called twice."""
        self._driver.close()


@contextmanager
def bolt_errors(doing: str, address: str) -> Iterator[None]:
    """Failures of the driver as errors of this project."""
    from neo4j import exceptions

    try:
        yield
    except exceptions.AuthError as error:
        raise Blocked(
            f"the graph database at {address} lets nobody in",
            found=error.message or type(error).__name__,
            remedy=f"check {USER} and {PASSWORD}",
        ) from error
    except (exceptions.ServiceUnavailable, exceptions.SessionExpired, OSError) as error:
        raise Blocked(
            f"the graph database at {address} does not answer while {doing}",
            found=str(error).splitlines()[0] if str(error) else type(error).__name__,
            remedy=f"start the server, or name another with {URI}",
        ) from error
    except (exceptions.Neo4jError, exceptions.DriverError) as error:
        raise InputError(
            f"the graph database at {address} failed while {doing}",
            found=f"{type(error).__name__}: {' '.join(sanitised(str(error)).split())[:300]}",
            remedy=f"check {DATABASE} and the rights of {USER}; the statements are plain Cypher",
        ) from error


def _driver(uri: str, environ: Mapping[str, str], patience: float) -> Any:
    require("neo4j", "the store `graph`")
    import neo4j

    # It logs each try that fails; the last failure becomes an error of this project.
    logging.getLogger("neo4j").setLevel(logging.CRITICAL)
    user, password = environ.get(USER), environ.get(PASSWORD)
    remember_secrets(password)
    if user and not password:
        raise Blocked(f"{USER} is set, {PASSWORD} is not", remedy=REMEDY)
    try:
        return neo4j.GraphDatabase.driver(
            uri,
            auth=(user, password or "") if user else None,
            connection_timeout=min(patience, 10.0),
            connection_acquisition_timeout=patience,
            max_transaction_retry_time=min(patience, LONGEST_RETRY),
            # Hints of the server's planner, such as that no node has a label yet, are no news to a user.
            notifications_min_severity="OFF" if uri.startswith("neo4j") else None,
            user_agent="recallbench",
        )
    except (neo4j.exceptions.ConfigurationError, ValueError) as error:
        raise _unreadable() from error


def _address(uri: str) -> str:
    """Scheme, host and port: no user, password or query."""
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname or "", parts.port or PORT
    except ValueError:
        raise _unreadable() from None
    if not re.fullmatch(r"(bolt|neo4j)(\+s|\+ssc)?", parts.scheme) or not host or parts.username is not None:
        raise _unreadable()
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def _unreadable() -> UsageError:
    return UsageError(
        f"{URI} can't be read",
        expected=f"such as bolt://127.0.0.1:{PORT}, with user and password in {USER} and {PASSWORD}",
        found="something else",
        remedy=REMEDY,
    )
