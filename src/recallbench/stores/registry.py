"""The stores by name: a new one is a module and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from recallbench.errors import RecallBenchError, UsageError
from recallbench.progress import Progress
from recallbench.stores.lessons import DATES
from recallbench.stores.postgres import has_extension
from recallbench.stores.signature import CANONICAL, FUNCTIONS
from recallbench.stores.store import Store
from recallbench.stores.weights import parse_weights

__all__ = [
    "STORES",
    "Entry",
    "StoreStatus",
    "check_options",
    "has_extension",
    "open_store",
    "server_of",
    "store_status",
]

DSN_VARIABLE = "PGMNEMO_DSN"


class Wanted(NamedTuple):
    """What the user asked of a store."""

    dsn: str | None
    weights: str | None
    call: str | None
    function: str | None
    dates: str | None
    progress: Progress | None


class StoreStatus(NamedTuple):
    """Whether a store could be used now, what was seen, and what would help if not."""

    ready: bool
    detail: str
    remedy: str = ""


class Entry(NamedTuple):
    """One registered store."""

    open: Callable[[Wanted], Store]
    status: Callable[[str | None, Mapping[str, str]], StoreStatus]
    summary: str
    takes: frozenset[str] = frozenset()
    """Which of the options for particular stores it understands."""
    needs_vectors: bool = True


def server_of(dsn: str | None, environ: Mapping[str, str]) -> str | None:
    """The server that was named: by the option, else by PGMNEMO_DSN; None asks for the embedded one."""
    return dsn or environ.get(DSN_VARIABLE) or None


def open_store(
    name: str,
    *,
    environ: Mapping[str, str],
    dsn: str | None = None,
    weights: str | None = None,
    call: str | None = None,
    function: str | None = None,
    dates: str | None = None,
    progress: Progress | None = None,
) -> Store:
    """The store of that name, not yet prepared; an embedded server begins to start in the background."""
    check_options(name, weights=weights, call=call, function=function, dates=dates)
    return _entry(name).open(Wanted(server_of(dsn, environ), weights, call, function, dates, progress))


def check_options(
    name: str, *, weights: str | None, call: str | None, function: str | None = None, dates: str | None = None
) -> None:
    """Raise UsageError where the store can't be opened with these; opens and starts nothing."""
    entry = _entry(name)
    # A DSN is no mistake with a store in memory: it may come from the environment.
    given = {"weights": weights, "call": call, "pgmnemo-function": function, "pgmnemo-dates": dates}
    for option, value in given.items():
        if value is not None and option not in entry.takes:
            able = ", ".join(other for other, its in STORES.items() if option in its.takes)
            raise UsageError(
                f"the store `{name}` has no use for --{option}",
                expected=f"--{option} with one of: {able}",
                remedy=f"leave out --{option}, or choose another --store",
            )
    parse_weights(weights)
    for option, value, known in (("pgmnemo-function", function, FUNCTIONS), ("pgmnemo-dates", dates, DATES)):
        if value is not None and value not in known:
            raise UsageError(f"--{option} {value} is not known", expected=", ".join(known), found=value)


def store_status(name: str, dsn: str | None, environ: Mapping[str, str]) -> StoreStatus:
    """Whether the store could be used now; starts no server, changes nothing."""
    try:
        return _entry(name).status(server_of(dsn, environ), environ)
    except RecallBenchError as error:
        found = f"{error.problem}: {error.found}" if error.found else error.problem
        return StoreStatus(False, found, error.remedy)


def _entry(name: str) -> Entry:
    if name not in STORES:
        raise UsageError(f"there is no store `{name}`", expected=", ".join(STORES), remedy="recallbench stores")
    return STORES[name]


def _pgvector(wanted: Wanted) -> Store:
    from recallbench.stores.embedded import EmbeddedServer
    from recallbench.stores.pgvector import PgvectorStore

    weights = parse_weights(wanted.weights)
    if wanted.dsn:
        return PgvectorStore(wanted.dsn, weights, wanted.progress)
    server = EmbeddedServer()
    server.begin()
    return PgvectorStore(server, weights, wanted.progress)


def _pgmnemo(wanted: Wanted) -> Store:
    from recallbench.stores.pgmnemo import PgmnemoStore

    dates = next(one for one in DATES if one == (wanted.dates or "constant"))
    return PgmnemoStore(wanted.dsn or "", wanted.function or CANONICAL, dates, wanted.progress)


def _exact(wanted: Wanted) -> Store:
    from recallbench.stores.exact import ExactStore

    return ExactStore()


def _bm25(wanted: Wanted) -> Store:
    from recallbench.stores.bm25 import BM25Store

    return BM25Store()


def _callable(wanted: Wanted) -> Store:
    from recallbench.stores.callable import EXAMPLE, CallableStore

    if wanted.call is None:
        raise UsageError("the store `callable` needs a function", expected="--call module:function", remedy=EXAMPLE)
    return CallableStore(wanted.call)


def _postgres_status(dsn: str | None, environ: Mapping[str, str]) -> StoreStatus:
    from recallbench.stores.binaries import find_install
    from recallbench.stores.postgres import NEEDS, check_age, connect, redacted, server_facts, unmet

    if not dsn:
        install = find_install(environ)
        return StoreStatus(True, f"embedded Postgres with pgvector ({install.root.name}), started for each run")
    with connect(dsn) as connection:
        check_age(connection)
        facts = server_facts(connection)
    lack = unmet(facts)
    if lack:
        return StoreStatus(False, f"{lack[0]}: {lack[1]} (needs {NEEDS})", lack[2])
    vector = f"pgvector {facts.vector.version}" if facts.vector else f"pgvector {facts.offered} (not yet installed)"
    pgmnemo = f"pgmnemo {facts.pgmnemo}" if facts.pgmnemo else "no pgmnemo"
    return StoreStatus(True, f"PostgreSQL {facts.postgres}, {vector}, {pgmnemo} ({redacted(dsn)})")


def _pgmnemo_status(dsn: str | None, environ: Mapping[str, str]) -> StoreStatus:
    from recallbench.stores.pgmnemo import REMEDY

    if not dsn:
        return StoreStatus(
            False,
            "no --dsn or PGMNEMO_DSN names a server",
            f"name a server with the version to measure by --dsn or PGMNEMO_DSN; there: {REMEDY}",
        )
    status = _postgres_status(dsn, environ)
    if status.ready and not has_extension(dsn, "pgmnemo"):
        return StoreStatus(False, f"{status.detail}: the database has no extension pgmnemo", REMEDY)
    return status


def _always(dsn: str | None, environ: Mapping[str, str]) -> StoreStatus:
    return StoreStatus(True, "in this process")


STORES: Mapping[str, Entry] = {
    "pgvector": Entry(_pgvector, _postgres_status, "the reference: Postgres with pgvector", frozenset({"weights"})),
    "pgmnemo": Entry(
        _pgmnemo,
        _pgmnemo_status,
        "the extension pgmnemo, which the protocol was written for",
        frozenset({"pgmnemo-function", "pgmnemo-dates"}),
    ),
    "exact": Entry(_exact, _always, "exhaustive cosine in memory"),
    "bm25": Entry(_bm25, _always, "BM25 in memory, without vectors", needs_vectors=False),
    "callable": Entry(_callable, _always, "a retriever of your own, as module:function", frozenset({"call"})),
}
