"""The plan of a run: its options, with everything settled that its user left open."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from recallbench.addresses import recorded_name
from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.corpora.records import Corpus, Haystack
from recallbench.corpora.registry import facts, find_entry, open_corpus
from recallbench.embedding.embedder import Embedder
from recallbench.embedding.forms.form import EncoderRequest
from recallbench.embedding.packs.used_packs import UsedPack
from recallbench.embedding.registry import check_dtype, check_length, open_embedder, recorded_encoder
from recallbench.errors import Blocked, UsageError
from recallbench.progress import Progress, Silent
from recallbench.protocol.deviations import Configuration, Deviation, departures
from recallbench.protocol.frozen import load
from recallbench.protocol.reproductions import Reproduction, find_reproduction
from recallbench.protocol.rules import CorpusRules, Rules
from recallbench.retrieval.pipeline.limits import limit_notes
from recallbench.retrieval.pipeline.opening import open_pipeline, pipeline_needs_vectors
from recallbench.retrieval.pipeline.pipeline import SEARCH_ALONE, Pipeline, declared_pipeline
from recallbench.retrieval.pipeline.shared_legs import SharedLegs
from recallbench.retrieval.replay import cannot_be_held
from recallbench.retrieval.selection import select_haystacks
from recallbench.retrieval.stages.search import DEPTH, UNDER_TEST, SearchStage
from recallbench.runs.options import Options
from recallbench.runs.pack_choice import find_pack
from recallbench.runs.searched import SearchedStore, searched_stores
from recallbench.stores.postgres.postgres import has_extension
from recallbench.stores.registry import (
    REFERENCE_STORE,
    asks_vectors,
    check_options,
    check_servers,
    filters_time,
    open_store,
    servers_of,
    store_class,
    store_status,
    variant_of,
)
from recallbench.stores.store import Store

BUNDLED_EMBEDDER = "minilm"
SYSTEM_UNDER_TEST = "pgmnemo"
CONTROL = "bm25"


@dataclass(frozen=True, slots=True)
class Plan:
    """The store, embedder and corpus of one run: the protocol's where they can be had, else the reference store."""

    options: Options
    rules: Rules
    corpus: CorpusRules
    """The registered facts of the corpus."""
    store: str
    """Its recorded name."""
    address: str = field(repr=False)
    """The name that opens the store: unlike its recorded name it may hold a password."""
    embedder: str | None
    """Its recorded name; None where the store needs no vectors."""
    announcements: tuple[str, ...] = ()
    """A line for each choice that was made for the user."""
    reproduction: Reproduction | None = None
    pipeline: Pipeline | None = None
    """The stages between a question and its ranking; None where a search stands alone."""
    replayed: bool = False
    """Whether what was said goes in one by one, and each question is asked when its moment has come."""

    @property
    def is_control(self) -> bool:
        """Whether what is measured is the lexical control itself."""
        return self.store == CONTROL and self.pipeline is None

    @property
    def keeps_going(self) -> bool:
        """Whether a failed question counts as the worst answer: an endpoint that fails on one does not end the run."""
        return self.options.keep_going or (self.pipeline is not None and self.pipeline.asks_endpoint)

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers to measure; none means the embedded one."""
        return servers_of(self.options.dsn, self.options.environ)

    @property
    def seed(self) -> int | None:
        """The hash seed in force: the variable counts only where the interpreter heeds it."""
        value = self.options.environ.get("PYTHONHASHSEED", "")
        return int(value) if value.isdigit() and not sys.flags.ignore_environment else None

    def configuration(self, sha256: str) -> Configuration:
        """Return the configuration that the options ask for, on a corpus file with this hash."""
        options = self.options
        return Configuration(
            sha256=sha256,
            store=self.store,
            variant=variant_of(self.store, options.store_options),
            embedder=self.embedder or "",
            pooled=options.pooled,
            depth=options.depth,
            limit=options.limit,
            pipeline=declared_pipeline(self.pipeline),
            reproduction=self.reproduction.name if self.reproduction else "",
            dtype=options.dtype if self.embedder else "fp32",
            time="ignored" if options.time == "ignored" else "",
        )

    @property
    def timed(self) -> bool:
        """Whether questions are held to what was said before them."""
        return self.options.time == "kept" and find_entry(self.options.corpus).timed

    def select(self, haystacks: Iterable[Haystack]) -> Iterator[Haystack]:
        """Yield the haystacks as the run gives them to a store, with the questions it asks."""
        options = self.options
        return select_haystacks(
            haystacks, pool=options.pooled, limit=options.limit, ignore_time=options.time == "ignored"
        )

    def departures(self, sha256: str) -> tuple[Deviation, ...]:
        """Return the departures of the run from the protocol, on a corpus file with this hash."""
        return departures(self.configuration(sha256), self.corpus, self.rules)

    def open_corpus(self, progress: Progress | None = None, *, fetch: bool = True) -> Corpus:
        """The corpus; with `fetch` it is downloaded where the options allow it."""
        return open_corpus(
            self.options.corpus,
            rules=self.rules,
            file=self.options.corpus_file,
            environ=self.options.environ,
            allow_dataset_deviation="dataset" in self.options.allow_deviations,
            download=self.options.download and fetch,
            progress=progress,
            allow_random_matches=self.options.allow_random_matches,
        )

    def find_pack(self, progress: Progress, *, fetch: bool = True) -> UsedPack | None:
        """Return the pack whose vectors the run uses; None where it embeds for itself."""
        if self.options.dtype != "fp32":
            return None  # a pack holds what fp32 gave
        return find_pack(self.embedder or "", self._encoder_request(progress), partial(self.open_corpus, fetch=fetch))

    def _encoder_request(self, progress: Progress) -> EncoderRequest:
        options = self.options
        name = options.embedder or self.embedder or ""
        return EncoderRequest(
            name, options.cache_dir, options.environ, progress, options.backend, options.max_tokens, options.dtype
        )

    @contextmanager
    def open_embedder(
        self, progress: Progress, *, recheck_own: bool = False, packs: bool = True
    ) -> Iterator[Embedder | None]:
        """The encoder, where there is one, until the block ends; without `packs` it takes no vectors of another maker.

        With `recheck_own` the user's own cached vectors are compared with new ones too.
        """
        if self.embedder is None:
            yield None
            return
        pack = self.find_pack(progress) if packs else None
        if pack is not None:
            progress.note(f"vectors of {self.embedder}: {pack.words}")
        embedder = open_embedder(
            self.options.embedder or self.embedder,
            backend=self.options.backend,
            cache_dir=self.options.cache_dir,
            environ=self.options.environ,
            progress=progress,
            recheck_own=recheck_own,
            max_tokens=self.options.max_tokens,
            dtype=self.options.dtype,
            pack=pack,
            engine=self.options.engine,
        )
        with closing(embedder):
            yield embedder

    def open_system(
        self, embedder: Embedder | None, progress: Progress | None = None, shared: SharedLegs | None = None
    ) -> Store:
        """Return what is measured, not yet filled: the store, or the pipeline over it, on legs that may be `shared`."""
        if self.pipeline is None:
            return self._open_store({}, progress)
        return open_pipeline(
            self.pipeline,
            lambda options: self._open_store(options, progress),
            embedder,
            environ=self.options.environ,
            cache_dir=self.options.cache_dir,
            progress=progress or Silent(),
            shared=None if shared is None else shared.of(self.store, self.options.store_options),
        )

    @property
    def store_status(self) -> tuple[bool, str, str]:
        """Whether the store could be used now, with what says so and what to do; nothing is started."""
        return store_status(self.address, self.servers, self.options.environ, self.options.store_options)[:3]

    def refuse_absent_store(self) -> None:
        """Raise Blocked where the store can't be used."""
        ready, detail, remedy = self.store_status
        if not ready:
            raise Blocked(f"the store {self.store} can't be used", found=detail, remedy=remedy)

    @property
    def stores(self) -> list[SearchedStore]:
        """Each store that is searched."""
        return searched_stores(SearchedStore(self.address, self.servers, self.options.store_options), self.pipeline)

    def searched(self, progress: Progress) -> list[Callable[[], Store]]:
        """Return how to open each store that is searched."""
        environ = self.options.environ
        return [
            partial(
                open_store, store.name, dsn=store.servers, options=store.options, environ=environ, progress=progress
            )
            for store in self.stores
        ]

    def _open_store(self, more: Mapping[str, str], progress: Progress | None) -> Store:
        return open_store(
            self.address,
            dsn=self.servers,
            options={**self.options.store_options, **more},
            environ=self.options.environ,
            progress=progress or Silent(),
        )


def plan_run(options: Options) -> Plan:
    """Settle all that the options leave open; raises UsageError for options that can't go together."""
    rules = load()
    corpus = facts(options.corpus, rules)
    reproduction = None if options.reproduce is None else find_reproduction(options.reproduce, corpus.name)
    _check_time(options)
    options, pipeline = _settle_pipeline(options)
    store, announcements = options.store, []
    if store is None:
        store, reason = _default_store(options)
        if store != rules.canonical_store:
            # Only on a corpus of the protocol does it matter that its own store is not there.
            why = reason if corpus.name in rules.corpora else "--store names none"
            announcements.append(f"store: {store}, since {why}")
    limits = _check_store(store, options, pipeline, rules.default_k)
    announcements += limits
    if limits and options.time == "kept" and find_entry(options.corpus).timed:
        announcements.append("time: what was said after a question takes room in its answer too before it is taken out")
    recorded = recorded_name(store)
    replayed = _is_replayed(store, options, pipeline)
    if replayed:
        announcements.append(f"time: {recorded} does not filter by it, so that sessions go in one by one")
    embedder = None
    if _needs_vectors(pipeline, store, options):
        by_default = corpus.embedder if corpus.name in rules.corpora else BUNDLED_EMBEDDER
        embedder = recorded_encoder(options.embedder or by_default)
        check_length(options.embedder or by_default, options.max_tokens)
        check_dtype(options.embedder or by_default, options.dtype)
        _check_nodes(options)
    elif unused := _for_an_encoder(options):
        option, _, _ = unused.partition(" ")
        named = options.pipeline.source.removesuffix(SEARCH_ALONE).strip() if options.pipeline is not None else ""
        asked = named or f"the store {recorded}"
        raise UsageError(
            f"{asked} needs no vectors, so it has no use for {option}",
            expected=f"{option} with a store that searches vectors",
            found=unused,
            remedy=f"leave out {option}" + ("" if named else ", or choose another --store"),
        )
    if pipeline is not None:
        announcements += limit_notes(pipeline, rules.default_k, options.depth)
    return Plan(
        options, rules, corpus, recorded, store, embedder, tuple(announcements), reproduction, pipeline, replayed
    )


def _for_an_encoder(options: Options) -> str:
    """Return an option that a run without vectors has no use for, as it was given; empty where there is none."""
    if options.embedder is not None:
        return f"--embedder {recorded_encoder(options.embedder)}"
    if options.max_tokens is not None:
        return f"--max-tokens {options.max_tokens}"
    return "" if options.dtype == "fp32" else f"--dtype {options.dtype}"


def _check_nodes(options: Options) -> None:
    if options.dtype != "fp32" and options.engine.on_nodes:
        raise UsageError(
            "--dtype can't be kept on a cluster, whose machines need not have the same kernels for it",
            expected=f"--dtype {options.dtype} on this machine, or fp32 on a cluster",
            found=f"--dtype {options.dtype} with --engine ray",
            remedy="leave out --engine or --dtype",
        )


def _check_time(options: Options) -> None:
    timed = find_entry(options.corpus).timed
    if options.time == "ignored" and not timed:
        raise UsageError(
            f"{plain_names(options.corpus)} does not say what came before a question, so there is no time to ignore",
            expected="--time ignored with a corpus whose questions see what was said before them, such as realmem",
            found=f"--time ignored with {plain_names(options.corpus)}",
            remedy="leave out --time",
        )
    if timed and options.time == "kept" and options.pooled:
        raise UsageError(
            f"a question of {options.corpus} sees what was said before it in its own haystack",
            expected="--scope own, or --time ignored",
            found="--scope pooled",
            remedy="leave out --scope",
        )


def _is_replayed(store: str, options: Options, pipeline: Pipeline | None) -> bool:
    """Return whether the system is held to time by a replay; raises UsageError where it can be in no way."""
    if not find_entry(options.corpus).timed or options.time == "ignored":
        return False
    searched = {store: options.store_options}
    if pipeline is not None:
        shared = {UNDER_TEST: options.store_options}
        searched = {
            SearchStage.store_name(leg.method, store): {**shared.get(leg.method, {}), **leg.store_options}
            for leg in pipeline.legs
        }
    if all(filters_time(name, environ=options.environ, options=own) for name, own in searched.items()):
        return False
    for name in searched:
        if not store_class(name).grows:
            raise cannot_be_held(recorded_name(name))
    return True


def _check_store(store: str, options: Options, pipeline: Pipeline | None, k: int) -> list[str]:
    """Return what makes answers of the store short with these options, and those of each leg that searches it."""
    asked = [(options.store_options, [k, options.depth])]
    if pipeline is not None:
        legs = [leg for leg in pipeline.legs if leg.method == UNDER_TEST]
        asked = [({**options.store_options, **leg.store_options}, [int(DEPTH.read(leg.options))]) for leg in legs]
    for store_options, _ in [(options.store_options, []), *asked]:
        check_options(store, store_options)
    check_servers(store, servers_of(options.dsn, options.environ))
    return list(dict.fromkeys(line for each, calls in asked for line in store_class(store).limits(each, calls)))


def _settle_pipeline(options: Options) -> tuple[Options, Pipeline | None]:
    """Return the options, and the pipeline where it is more than a search alone, which needs none."""
    pipeline = options.pipeline
    if pipeline is None:
        return options, None
    if not pipeline.searches_store and (options.store is not None or options.store_options):
        given = "--store" if options.store is not None else "--set"
        raise UsageError(
            f"{pipeline.source} does not search the store under test, so it has no use for {given}",
            expected='a stage with kind = "search" and method = "store"',
            found=", ".join(leg.method for leg in pipeline.legs),
            remedy=f"leave out {given}, or let a leg search the store",
        )
    leg = pipeline.main_leg
    store = SearchStage.store_name(leg.method, options.store or "") or None
    settled = replace(options, store=store, store_options={**options.store_options, **leg.store_options})
    if not pipeline.searches_alone:
        return settled, pipeline
    return replace(settled, pipeline=replace(pipeline, source=f"{pipeline.source} {SEARCH_ALONE}")), None


def _needs_vectors(pipeline: Pipeline | None, store: str, options: Options) -> bool:
    if pipeline is None:
        return asks_vectors(store, environ=options.environ, options=options.store_options)
    return pipeline_needs_vectors(pipeline, store, environ=options.environ, options=options.store_options)


def _default_store(options: Options) -> tuple[str, str]:
    servers = servers_of(options.dsn, options.environ)
    if not servers:
        return REFERENCE_STORE, "no PGMNEMO_DSN or --dsn names a server with the extension pgmnemo"
    if not all(has_extension(server, SYSTEM_UNDER_TEST) for server in servers):
        return (
            REFERENCE_STORE,
            f"{'the server' if len(servers) == 1 else 'one of the servers'} has no extension pgmnemo",
        )
    return SYSTEM_UNDER_TEST, ""
