"""The stores by name: a new one is a module and a line here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any

from recallbench.addresses import EXAMPLES, recorded_name, scheme_of
from recallbench.confidential import without_secrets
from recallbench.errors import Blocked, RecallBenchError, UsageError
from recallbench.nearest_name import you_may_mean
from recallbench.progress import Progress
from recallbench.stores.options import StoreOption
from recallbench.stores.postgres.postgres import redacted
from recallbench.stores.request import StoreRequest, StoreStatus
from recallbench.stores.spread import SpreadStore
from recallbench.stores.spread_status import spread_status
from recallbench.stores.store import Store

STORES: Mapping[str, str] = {
    "pgvector": "pgvector.pgvector.PgvectorStore",
    "callable": "outside.callable.CallableStore",
    "pgmnemo": "pgmnemo.pgmnemo.PgmnemoStore",
    "exact": "exact.ExactStore",
    "bm25": "bm25.BM25Store",
    "graph": "graph.graph.GraphStore",
}
"""The module and class of each store, below this package. Help and environment.json list options in this order."""
SCHEMES: Mapping[str, str] = {
    "python": "outside.callable.PythonStore",
    "http": "outside.http.HttpStore",
    "https": "outside.http.HttpStore",
}
"""The prefixes of a store's name that is an address instead."""
REFERENCE_STORE = "pgvector"
"""The store that is measured when none is named and the protocol's own is not available."""
DSN_VARIABLE = "PGMNEMO_DSN"
OTHERS = "store_options"
"""The key of environment.json that holds the options without a flag of their own."""
NO_OPTIONS: Mapping[str, str] = MappingProxyType({})


def find_store(name: str) -> type[Store] | None:
    """The class that is registered under a name, or under the scheme that it begins with; None where there is none."""
    path = STORES.get(name) or SCHEMES.get(scheme_of(name))
    return _loaded(path) if path else None


def store_class(name: str) -> type[Store]:
    """The same; raises UsageError where there is none."""
    kind = find_store(name)
    if kind is None:
        known = f"{', '.join(STORES)}, or an address such as {EXAMPLES}"
        # What follows the scheme of an address may hold a password.
        scheme, separator, _ = name.partition("://")
        shown = f"{scheme}{separator}…" if separator else name
        raise UsageError(f"there is no store `{shown}`", expected=known, found=shown, remedy=_meant(name))
    return kind


def _meant(name: str) -> str:
    """Return what somebody may have meant who named no store: a class of their own, or another spelling."""
    own = re.fullmatch(r"(?:.*/)?([\w.]*\w)(?:\.py)?[:.](\w+)", name)
    if own is not None and own[2] != "py":
        return f"recallbench stores lists them; a class of your own is python:{own[1].removesuffix('.py')}:{own[2]}"
    return f"recallbench stores lists them{you_may_mean(name, STORES)}"


def store_options(*names: str) -> tuple[StoreOption, ...]:
    """The options that these stores declare; without names those of all of them."""
    return tuple(option for name in names or STORES for option in store_class(name).options)


def servers_of(dsn: tuple[str, ...], environ: Mapping[str, str]) -> tuple[str, ...]:
    """The servers that were named: by the option, else one by PGMNEMO_DSN; none asks for the embedded one."""
    named = tuple(filter(None, dsn))
    return named or tuple(filter(None, [environ.get(DSN_VARIABLE)]))


def open_store(
    name: str,
    *,
    environ: Mapping[str, str],
    dsn: tuple[str, ...] = (),
    options: Mapping[str, str] = NO_OPTIONS,
    progress: Progress | None = None,
) -> Store:
    """The store of that name, not yet prepared; an embedded server begins to start in the background.

    Over several servers it is spread, each scope on one of them.
    """
    check_options(name, options)
    kind, servers = store_class(name), servers_of(dsn, environ)
    check_servers(name, servers)
    if len(servers) < 2 or kind.servers != "several":
        return kind.open(StoreRequest(name, environ, next(iter(servers), None), options, progress))
    return SpreadStore(
        lambda server, heard: kind.open(StoreRequest(name, environ, server, options, heard)), _shown(servers), progress
    )


def check_servers(name: str, servers: tuple[str, ...]) -> None:
    """Raise UsageError where the store can't lie on so many servers, or one of them is named twice."""
    if len(servers) < 2 or store_class(name).servers == "none":
        return
    if store_class(name).servers == "one":
        several = [other for other in STORES if store_class(other).servers == "several"]
        raise UsageError(
            f"the store `{recorded_name(name)}` can't be spread over {len(servers)} servers",
            expected=f"--dsn once, or --store {' or '.join(several)}",
            found=f"--dsn {len(servers)} times",
            remedy="name one server",
        )
    if len(_shown(servers)) < len(servers):
        twice = next(shown for shown in _shown(servers) if [*map(redacted, servers)].count(shown) > 1)
        raise UsageError(
            "a server is named twice", expected="each --dsn once", found=twice, remedy="leave one of them out"
        )


def _shown(servers: tuple[str, ...]) -> dict[str, str]:
    """Return the servers by what may be shown of their addresses."""
    return {redacted(server): server for server in servers}


def asks_vectors(name: str, *, environ: Mapping[str, str], options: Mapping[str, str] = NO_OPTIONS) -> bool:
    """Return whether the store takes vectors; one of the user's own is asked itself, if it is there."""
    kind = store_class(name)
    if not kind.outside:
        return kind.needs_vectors
    check_options(name, options)
    try:
        return kind.asks_vectors(StoreRequest(name, environ, options=options))
    except Blocked:
        return kind.needs_vectors  # its status says why it can't be used


def filters_time(name: str, *, environ: Mapping[str, str], options: Mapping[str, str] = NO_OPTIONS) -> bool:
    """Return whether the store filters by time; one of the user's own is asked itself, if it is there."""
    kind = store_class(name)
    try:
        return kind.asks_time(StoreRequest(name, environ, options=options)) if kind.outside else kind.filters_time
    except Blocked:
        return kind.filters_time  # its status says why it can't be used


def check_options(name: str, options: Mapping[str, str], *, several: bool = False) -> None:
    """Raise UsageError where the store has no such options or values, or they can't go together; starts nothing.

    Parameters of code of the user's own are checked when it is opened. `several`: others are measured beside it."""
    kind = store_class(name)
    for option_name, value in options.items():
        option = kind.find_option(option_name)
        if option is None:
            raise _no_use(recorded_name(name), option_name, kind.options, several=several)
        option.check(value)
    kind.check_together(options)


def store_status(
    name: str, dsn: tuple[str, ...], environ: Mapping[str, str], options: Mapping[str, str] = NO_OPTIONS
) -> StoreStatus:
    """Whether the store could be used now, on each of its servers; starts no server, changes nothing."""
    try:
        kind, servers = store_class(name), servers_of(dsn, environ)
        if len(servers) < 2 or kind.servers == "none":
            return kind.status(StoreRequest(name, environ, next(iter(servers), None), options))
        check_servers(name, servers)
        asked = {shown: StoreRequest(name, environ, server, options) for shown, server in _shown(servers).items()}
        return spread_status({shown: kind.status(request) for shown, request in asked.items()})
    except RecallBenchError as error:
        description = f"{error.problem}: {error.found}" if error.found else error.problem
        return StoreStatus(False, description, error.remedy)


def variant_of(name: str, options: Mapping[str, str]) -> str:
    """Return in words what departs from the store's defaults under these options; empty where nothing does."""
    kind = find_store(name)
    if kind is None:
        return ""
    declared = [option.name for option in kind.options]
    values = without_secrets({option: str(value) for option, value in options.items()})
    own = [*(option for option in declared if option in values), *sorted(values.keys() - {*declared})]
    departing = ((kind.find_option(option), values[option]) for option in own)
    return " and ".join(words for option, value in departing if option and (words := option.departure(value)))


def recorded_options(options: Mapping[str, str]) -> dict[str, Any]:
    """The options of a store as environment.json has them; one with a flag of its own is null where it was left out."""
    shown = without_secrets(options)
    own = {option.name: shown.get(option.name) for option in store_options() if option.flag}
    others = {name: value for name, value in shown.items() if name not in own}
    return own | ({OTHERS: others} if others else {})


def options_of_record(recorded: Mapping[str, Any]) -> dict[str, str]:
    """The options of a store by name, from those that environment.json has."""
    others = recorded.get(OTHERS)
    own = {option.name: recorded.get(option.name) for option in store_options() if option.flag}
    values = own | (dict(others) if isinstance(others, Mapping) else {})
    return {name: str(value) for name, value in values.items() if value is not None}


def _no_use(store: str, option_name: str, declared: Sequence[StoreOption], *, several: bool) -> UsageError:
    able = {name: option for name in STORES for option in store_options(name) if option.name == option_name}
    typed = next((option.typed for option in able.values()), f"--set {option_name}")
    others = f"{typed} with one of: {', '.join(able)}"
    names = [option.name for option in declared]
    own = f"one of: {', '.join(names)}" if declared else f"no --set, since {store} has nothing to set"
    return UsageError(
        f"the store `{store}` has no use for {typed}",
        expected=others if able else own,
        remedy=f"leave out {typed}, or choose another --store"
        if able
        else f"leave out {typed}{', or measure that store by itself' * several}{you_may_mean(option_name, names)}",
    )


@cache
def _loaded(path: str) -> type[Store]:
    module, _, name = path.rpartition(".")
    kind: type[Store] = getattr(import_module(f"recallbench.stores.{module}"), name)
    return kind
