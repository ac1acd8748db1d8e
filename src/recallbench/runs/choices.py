"""What a run uses where its user left it open, and what of that departs from the protocol."""

from __future__ import annotations

from dataclasses import dataclass, field

from recallbench.errors import UsageError
from recallbench.protocol.deviations import Configuration
from recallbench.protocol.reproductions import Reproduction, find_reproduction
from recallbench.protocol.rules import CorpusRules, Rules
from recallbench.runs.options import Options
from recallbench.stores.outside.address import recorded_name
from recallbench.stores.postgres.postgres import has_extension
from recallbench.stores.registry import REFERENCE_STORE, asks_vectors, check_options, server_of, variant_of

BUNDLED_EMBEDDER = "minilm"
SYSTEM_UNDER_TEST = "pgmnemo"


@dataclass(frozen=True, slots=True)
class Choice:
    """Store and embedder of a run, and one line for each that was chosen for the user."""

    store: str
    embedder: str | None
    announcements: tuple[str, ...]
    reproduction: Reproduction | None = None
    address: str = field(default="", repr=False)
    """How the store was named, to open it: unlike its recorded name it may hold a password."""


def dsn_of(options: Options) -> str | None:
    """The server to measure; None means the embedded one."""
    return server_of(options.dsn, options.environ)


def choose(options: Options, corpus: CorpusRules, rules: Rules) -> Choice:
    """The protocol's store and embedder where they can be had, the reference store where not."""
    said = []
    again = None if options.reproduce is None else find_reproduction(options.reproduce, corpus.name)
    store = options.store
    if store is None:
        store, reason = _default_store(options)
        if store != rules.canonical_store:
            said.append(f"store: {store}, since {reason}; recorded as a deviation")
    check_options(store, options.store_options)
    recorded = recorded_name(store)
    if not asks_vectors(store, environ=options.environ, options=options.store_options):
        if options.embedder is not None:
            raise UsageError(
                f"the store {recorded} needs no vectors, so it has no use for --embedder",
                expected="--embedder with a store that searches vectors",
                found=f"--embedder {options.embedder}",
                remedy="leave out --embedder, or choose another --store",
            )
        return Choice(recorded, None, tuple(said), again, store)
    embedder = options.embedder or (corpus.embedder if corpus.name in rules.corpora else BUNDLED_EMBEDDER)
    return Choice(recorded, embedder, tuple(said), again, store)


def _default_store(options: Options) -> tuple[str, str]:
    dsn = dsn_of(options)
    if dsn is None:
        return REFERENCE_STORE, "no PGMNEMO_DSN or --dsn names a server with the extension pgmnemo"
    if not has_extension(dsn, SYSTEM_UNDER_TEST):
        return REFERENCE_STORE, "the server has no extension pgmnemo"
    return SYSTEM_UNDER_TEST, ""


def configuration(options: Options, choice: Choice, sha256: str) -> Configuration:
    """What the options ask for, on a corpus file with this hash."""
    return Configuration(
        sha256=sha256,
        store=choice.store,
        variant=variant_of(choice.store, options.store_options),
        embedder=choice.embedder or "",
        pooled=options.pooled,
        depth=options.depth,
        limit=options.limit,
        reproduction=choice.reproduction.name if choice.reproduction else "",
    )
