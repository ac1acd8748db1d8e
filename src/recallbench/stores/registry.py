"""The stores by name: a new one is a module and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from recallbench.errors import Blocked, RecallBenchError, UsageError
from recallbench.progress import Progress
from recallbench.stores.graph.rankers import DEFAULT_RANKER
from recallbench.stores.options import STORE_OPTIONS
from recallbench.stores.outside.address import EXAMPLES, PYTHON, WEB, recorded_name, scheme_of
from recallbench.stores.outside.patience import patience_of
from recallbench.stores.pgmnemo.lessons import DATES
from recallbench.stores.pgmnemo.signature import CANONICAL
from recallbench.stores.postgres.postgres import has_extension
from recallbench.stores.store import Store
from recallbench.stores.weights import parse_weights

if TYPE_CHECKING:
    from recallbench.stores.outside.http import About

__all__ = [
    "REFERENCE_STORE",
    "STORES",
    "Entry",
    "StoreStatus",
    "asks_vectors",
    "check_options",
    "entry_of",
    "find_entry",
    "has_extension",
    "open_store",
    "recorded_name",
    "server_of",
    "store_status",
]

DSN_VARIABLE = "PGMNEMO_DSN"
REFERENCE_STORE = "pgvector"
"""What is measured where nobody names a store, and the protocol's own can't be had."""


class Wanted(NamedTuple):
    """What the user asked of a store; `name` is how it was named, which may hold a password."""

    name: str
    environ: Mapping[str, str]
    dsn: str | None
    weights: str | None = None
    call: str | None = None
    function: str | None = None
    dates: str | None = None
    ranker: str | None = None
    progress: Progress | None = None


class StoreStatus(NamedTuple):
    """Whether a store could be used now, what was seen, and what would help if not."""

    ready: bool
    detail: str
    remedy: str = ""


class Entry(NamedTuple):
    """One registered store."""

    open: Callable[[Wanted], Store]
    status: Callable[[Wanted], StoreStatus]
    summary: str
    takes: frozenset[str] = frozenset()
    """Which of the options for particular stores it understands."""
    kind: Callable[[], type[Store]] | None = None
    """Its class, which declares what results are held to: calls, scores, and what it says of itself."""
    needs_vectors: bool = True
    outside: Callable[[Wanted], bool] | None = None
    """Of a system of the user's own: asks it whether it needs vectors. It need not state settings either."""


def find_entry(name: str) -> Entry | None:
    """What is registered under a name, or under the scheme that it begins with; None where there is nothing."""
    return STORES.get(name) or SCHEMES.get(scheme_of(name))


def entry_of(name: str) -> Entry:
    """The same; raises UsageError where there is nothing."""
    entry = find_entry(name)
    if entry is None:
        known = f"{', '.join(STORES)}, or an address such as {EXAMPLES}"
        # What follows the scheme of an address may hold a password.
        scheme, separator, _ = name.partition("://")
        shown = f"{scheme}{separator}…" if separator else name
        raise UsageError(f"there is no store `{shown}`", expected=known, found=shown, remedy="recallbench stores")
    return entry


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
    ranker: str | None = None,
    progress: Progress | None = None,
) -> Store:
    """The store of that name, not yet prepared; an embedded server begins to start in the background."""
    check_options(name, weights=weights, call=call, function=function, dates=dates, ranker=ranker)
    server = server_of(dsn, environ)
    return entry_of(name).open(Wanted(name, environ, server, weights, call, function, dates, ranker, progress))


def asks_vectors(name: str, *, environ: Mapping[str, str], call: str | None = None) -> bool:
    """Whether the store is to be given vectors; one of the user's own is asked itself, if it is there."""
    entry = entry_of(name)
    if entry.outside is None:
        return entry.needs_vectors
    check_options(name, weights=None, call=call)
    try:
        return entry.outside(Wanted(name, environ, None, call=call))
    except Blocked:
        return entry.needs_vectors  # its status says why it can't be used


def check_options(
    name: str,
    *,
    weights: str | None,
    call: str | None,
    function: str | None = None,
    dates: str | None = None,
    ranker: str | None = None,
) -> None:
    """Raise UsageError where the store can't be opened with these; opens and starts nothing."""
    entry = entry_of(name)
    recorded = recorded_name(name)
    # A DSN is no mistake with a store in memory: it may come from the environment.
    values = {"weights": weights, "call": call, "function": function, "dates": dates, "ranker": ranker}
    given = [(option, value) for option in STORE_OPTIONS if (value := values.get(option.field)) is not None]
    for option, _ in given:
        if option.name not in entry.takes:
            able = ", ".join(other for other, its in STORES.items() if option.name in its.takes)
            raise UsageError(
                f"the store `{recorded}` has no use for --{option.name}",
                expected=f"--{option.name} with one of: {able}",
                remedy=f"leave out --{option.name}, or choose another --store",
            )
    parse_weights(weights)
    for option, value in given:
        if option.known and value not in option.known:
            raise UsageError(f"--{option.name} {value} is not known", expected=", ".join(option.known), found=value)


def store_status(name: str, dsn: str | None, environ: Mapping[str, str]) -> StoreStatus:
    """Whether the store could be used now; starts no server, changes nothing."""
    try:
        return entry_of(name).status(Wanted(name, environ, server_of(dsn, environ)))
    except RecallBenchError as error:
        found = f"{error.problem}: {error.found}" if error.found else error.problem
        return StoreStatus(False, found, error.remedy)


def _pgvector(wanted: Wanted) -> Store:
    from recallbench.stores.pgvector import PgvectorStore
    from recallbench.stores.postgres.embedded import EmbeddedServer

    weights = parse_weights(wanted.weights)
    if wanted.dsn:
        return PgvectorStore(wanted.dsn, weights, wanted.progress)
    server = EmbeddedServer()
    server.begin()
    return PgvectorStore(server, weights, wanted.progress)


def _pgmnemo(wanted: Wanted) -> Store:
    from recallbench.stores.pgmnemo.pgmnemo import PgmnemoStore

    dates = next(one for one in DATES if one == (wanted.dates or "constant"))
    return PgmnemoStore(wanted.dsn or "", wanted.function or CANONICAL, dates, wanted.progress)


def _exact(wanted: Wanted) -> Store:
    from recallbench.stores.exact import ExactStore

    return ExactStore()


def _bm25(wanted: Wanted) -> Store:
    from recallbench.stores.bm25 import BM25Store

    return BM25Store()


def _callable(wanted: Wanted) -> Store:
    from recallbench.stores.outside.callable import EXAMPLE, CallableStore

    if wanted.call is None:
        raise UsageError("the store `callable` needs a function", expected="--call module:function", remedy=EXAMPLE)
    return CallableStore(wanted.call, patience=patience_of(wanted.environ))


def _python_needs(wanted: Wanted) -> bool:
    return (_python if scheme_of(wanted.name) else _callable)(wanted).needs_vectors


def _python(wanted: Wanted) -> Store:
    from recallbench.stores.outside.callable import CallableStore

    name = recorded_name(wanted.name)
    return CallableStore(name.removeprefix(f"{PYTHON}:"), name, patience_of(wanted.environ))


def _http(wanted: Wanted) -> Store:
    from recallbench.stores.outside.http import HttpStore

    return HttpStore(wanted.name, wanted.environ, wanted.progress)


def _graph(wanted: Wanted) -> Store:
    from recallbench.stores.graph.graph import GraphStore

    return GraphStore(wanted.environ, wanted.ranker or DEFAULT_RANKER, wanted.progress)


def _postgres_status(wanted: Wanted) -> StoreStatus:
    from recallbench.stores.postgres.binaries import find_install
    from recallbench.stores.postgres.postgres import NEEDS, check_age, connect, redacted, server_facts, unmet

    dsn = wanted.dsn
    if not dsn:
        install = find_install(wanted.environ)
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


def _pgmnemo_status(wanted: Wanted) -> StoreStatus:
    from recallbench.stores.pgmnemo.pgmnemo import REMEDY

    if not wanted.dsn:
        return StoreStatus(
            False,
            "no --dsn or PGMNEMO_DSN names a server",
            f"name a server with the version to measure by --dsn or PGMNEMO_DSN; there: {REMEDY}",
        )
    status = _postgres_status(wanted)
    if status.ready and not has_extension(wanted.dsn, "pgmnemo"):
        return StoreStatus(False, f"{status.detail}: the database has no extension pgmnemo", REMEDY)
    return status


def _http_status(wanted: Wanted) -> StoreStatus:
    about = _http_about(wanted)
    vectors = "is given vectors" if about.needs_vectors else "needs no vectors"
    return StoreStatus(True, f"{recorded_name(wanted.name)}: version {about.version}, {vectors}")


def _http_needs(wanted: Wanted) -> bool:
    return _http_about(wanted).needs_vectors


def _http_about(wanted: Wanted) -> About:
    from recallbench.stores.outside.http import HttpStore

    store = HttpStore(wanted.name, wanted.environ)
    try:
        return store.about()
    finally:
        store.close()


def _python_status(wanted: Wanted) -> StoreStatus:
    _python(wanted)
    return StoreStatus(True, "in this process")


def _graph_status(wanted: Wanted) -> StoreStatus:
    from recallbench.stores.graph.bolt import Bolt

    with Bolt(wanted.environ) as server:
        return StoreStatus(True, f"{server.agent()} ({server.address})")


def _always(wanted: Wanted) -> StoreStatus:
    return StoreStatus(True, "in this process")


def _class(module: str, name: str) -> Callable[[], type[Store]]:
    """A store's class, imported when it is asked for."""

    def found() -> type[Store]:
        kind: type[Store] = getattr(import_module(f"recallbench.stores.{module}"), name)
        return kind

    return found


STORES: Mapping[str, Entry] = {
    "pgvector": Entry(
        _pgvector,
        _postgres_status,
        "the reference: Postgres with pgvector",
        frozenset({"weights"}),
        _class("pgvector", "PgvectorStore"),
    ),
    "pgmnemo": Entry(
        _pgmnemo,
        _pgmnemo_status,
        "the extension pgmnemo, which the protocol was written for",
        frozenset({"pgmnemo-function", "pgmnemo-dates"}),
        _class("pgmnemo.pgmnemo", "PgmnemoStore"),
    ),
    "exact": Entry(_exact, _always, "exhaustive cosine in memory", kind=_class("exact", "ExactStore")),
    "bm25": Entry(
        _bm25, _always, "BM25 in memory, without vectors", kind=_class("bm25", "BM25Store"), needs_vectors=False
    ),
    "graph": Entry(
        _graph,
        _graph_status,
        "sessions, entities and links in a graph database over Bolt; on when NEO4J_URI is set",
        frozenset({"graph-ranker"}),
        _class("graph.graph", "GraphStore"),
        needs_vectors=False,
    ),
    "callable": Entry(
        _callable,
        _always,
        "a retriever of your own, as module:function",
        frozenset({"call"}),
        _class("outside.callable", "CallableStore"),
        outside=_python_needs,
    ),
}
SCHEMES: Mapping[str, Entry] = {
    PYTHON: Entry(
        _python,
        _python_status,
        "a retriever of your own: python:module:factory",
        kind=_class("outside.callable", "CallableStore"),
        outside=_python_needs,
    ),
    **dict.fromkeys(
        WEB,
        Entry(
            _http,
            _http_status,
            "a memory behind a JSON contract: http://host:port/",
            kind=_class("outside.http", "HttpStore"),
            outside=_http_needs,
        ),
    ),
}
"""What a store's name may begin with instead; the rest says where it is."""
