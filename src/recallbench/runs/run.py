"""The main job: one corpus, one store, one folder that proves its own number."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path

from recallbench.audit.decision import with_verdict
from recallbench.audit.reproduced import record
from recallbench.corpora.records import Corpus, Haystack, Survey
from recallbench.corpora.registry import facts
from recallbench.embedding.embedder import Embedder
from recallbench.errors import Blocked
from recallbench.progress import Progress
from recallbench.protocol.deviations import departures
from recallbench.protocol.frozen import load
from recallbench.protocol.rules import CorpusRules, Rules, applied
from recallbench.reports.reproduction import ReproductionRecord
from recallbench.results.folder import explicit_folder
from recallbench.results.metrics import Metrics
from recallbench.retrieval.loop import retrieve
from recallbench.retrieval.ranking import scored_apart
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.retrieval.selection import offered
from recallbench.retrieval.timing import Timings
from recallbench.runs.assembly import assemble
from recallbench.runs.choices import Choice, choose, configuration, dsn_of
from recallbench.runs.opening import corpus_of, embed, embedder_of, store_of
from recallbench.runs.options import Options
from recallbench.runs.placement import leave_blocked, measured_folder, result_folder
from recallbench.runs.reproduction import Rereading, answered
from recallbench.runs.writing import Circumstances, write
from recallbench.stores.postgres import folders
from recallbench.stores.registry import open_store, store_status
from recallbench.stores.store import Store

CONTROL = "bm25"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished run."""

    folder: Path
    metrics: Metrics
    reproduced: ReproductionRecord | None = None
    retrieval: Retrieval = field(default_factory=Retrieval, repr=False)
    """What came back; empty for a run that was made before and is read from its folder."""


def run(options: Options, progress: Progress, today: date) -> Outcome:
    """Make one result. A missing prerequisite leaves a BLOCKED folder and raises Blocked."""
    rules = load()
    corpus = facts(options.corpus, rules)
    if options.folder is not None:
        explicit_folder(options.folder)
    try:
        choice = choose(options, corpus, rules)
        for line in choice.announcements:
            progress.note(line)
        return _run(options, rules, corpus, choice, today, progress)
    except Blocked as blocked:
        leave_blocked(options, blocked, today, progress)
        raise


def _run(
    options: Options, rules: Rules, registered: CorpusRules, choice: Choice, today: date, progress: Progress
) -> Outcome:
    started, since = datetime.now(UTC), time.perf_counter()
    # Whatever this run needs: a server that outlived its run would go on for ever.
    folders.sweep()
    folder = result_folder(options, choice.store, today)
    corpus = corpus_of(options, rules, progress)
    ready, detail, remedy = store_status(choice.address, dsn_of(options), options.environ)
    if not ready:
        raise Blocked(f"the store {choice.store} can't be used", found=detail, remedy=remedy)
    with ExitStack() as closing:
        # A result that may be cited rests on no kept vectors that nothing was held against. How many questions there
        # are is not known yet: a limit may turn out to be none.
        asked_for = replace(configuration(options, choice, corpus.sha256), limit=None)
        embedder = embedder_of(options, choice, progress, recheck_own=not departures(asked_for, registered, rules))
        if embedder is not None:
            closing.callback(embedder.close)
        # Opened before it is needed: an embedded server starts while texts are read and embedded.
        store = store_of(options, choice, progress)
        closing.callback(store.close)
        # What is loaded by now stays: the garbage collector need not walk it again for every batch of hits.
        gc.freeze()
        closing.callback(gc.unfreeze)
        timings = Timings()
        stage = progress.stage("reading the corpus", registered.segments or None, "segments")
        with timings.phase("survey"), stage as advance:
            survey = corpus.survey(lambda haystack: advance(len(haystack.segments)))
        if options.limit is not None and options.limit >= survey.asked:
            options = replace(options, limit=None)
        haystacks = _reading(corpus, options)
        if embedder is not None:
            with timings.phase("embed"):
                embed(haystacks, embedder, survey.segments)
        retrieval = _measure(store, haystacks, embedder, options, rules, survey, timings, progress)
        with timings.phase("score"):
            metrics = assemble(
                retrieval,
                survey,
                configuration(options, choice, survey.sha256),
                registered,
                rules,
                store=store,
                embedder=embedder,
                clarifications=applied(rules, registered, corpus.clarifications, choice.store, choice.embedder),
                asked_version=options.version,
                seed=_seed(options),
            )
            _warn_of_scores(store, metrics, retrieval, options, progress)
            metrics = with_verdict(metrics, rules, registered, None)
        reproduced = None
        if choice.reproduction is not None:
            # What the run put into the system under test is gone before the published way is tried on it.
            store.close()
            with timings.phase("reproduce"):
                reading = Rereading(choice.reproduction, corpus, options.limit)
                again = _again(reading, choice, options, embedder, survey, progress)
            found = answered(choice.reproduction, reading.judged(again), again)
            reproduced = record(choice.reproduction, found, again.segments, again.version, metrics, registered.sha256)
        circumstances = Circumstances(started, since, options, embedder.report() if embedder is not None else None)
        texts = _texts(haystacks) if options.with_text else None
        folder = measured_folder(folder, options, choice.store, retrieval.version, today)
        folder = write(folder, metrics, retrieval, circumstances, texts, haystacks(), reproduced)
    return Outcome(folder, metrics, reproduced, retrieval)


def _again(
    reading: Rereading,
    choice: Choice,
    options: Options,
    embedder: Embedder | None,
    survey: Survey,
    progress: Progress,
) -> Retrieval:
    """What the same kind of store answers when it is filled and asked the published way."""
    if embedder is not None:
        embed(reading.haystacks, embedder, survey.segments)
    expected = survey.asked if options.limit is None else options.limit
    calls = Calls(reading.wanted.k, reading.wanted.depth)
    store = store_of(options, choice, progress)
    try:
        return retrieve(
            reading.haystacks,
            store,
            None,
            embedder,
            expected=expected,
            calls=calls,
            timings=Timings(),
            progress=progress,
        )
    finally:
        store.close()


def _reading(corpus: Corpus, options: Options) -> Callable[[], Iterable[Haystack]]:
    return lambda: offered(corpus.haystacks(), in_one=options.pooled, limit=options.limit)


def _measure(
    store: Store,
    haystacks: Callable[[], Iterable[Haystack]],
    embedder: Embedder | None,
    options: Options,
    rules: Rules,
    survey: Survey,
    timings: Timings,
    progress: Progress,
) -> Retrieval:
    expected = survey.asked if options.limit is None else min(options.limit, survey.asked)
    control = None if store.name == CONTROL else open_store(CONTROL, environ=options.environ)
    return retrieve(
        haystacks,
        store,
        control,
        embedder,
        expected=expected,
        calls=Calls(rules.default_k, options.depth),
        timings=timings,
        progress=progress,
        keep_going=options.keep_going,
    )


def _warn_of_scores(store: Store, metrics: Metrics, retrieval: Retrieval, options: Options, progress: Progress) -> None:
    """Note that a segment has two scores, where the store's own declaration rules that out."""
    k, evidence = retrieval.calls.k, metrics.store.evidence
    apart = sum(
        store.scores_alike(size, k, options.store_options, evidence) and scored_apart(short, deep) is not None
        for size, short, deep in zip(retrieval.candidates, retrieval.short or (), retrieval.rankings, strict=False)
    )
    if apart:
        progress.note(
            f"{store.name}: for {apart} questions a segment has another score in the call for {k} hits "
            f"than in that for {options.depth}, which an audit refuses; where that is right, say scores_depend_on_k"
        )


def _seed(options: Options) -> int | None:
    """The hash seed in force: the variable counts only where the interpreter heeds it."""
    value = options.environ.get("PYTHONHASHSEED", "")
    return int(value) if value.isdigit() and not sys.flags.ignore_environment else None


def _texts(haystacks: Callable[[], Iterable[Haystack]]) -> dict[str, str]:
    return {segment.id: segment.text for haystack in haystacks() for segment in haystack.segments}
