"""The main job: one corpus, one store, one folder that proves its own number."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from recallbench.audit.decision import with_verdict
from recallbench.audit.reproduced import record
from recallbench.corpora.records import Corpus, Haystack, Survey
from recallbench.embedding.embedder import Embedder
from recallbench.errors import Blocked
from recallbench.progress import Progress
from recallbench.protocol.deviations import departures
from recallbench.protocol.rules import applied
from recallbench.reports.reproduction import ReproductionRecord
from recallbench.results.folder import explicit_folder
from recallbench.results.metrics import Metrics
from recallbench.retrieval.loop import Haystacks, retrieve
from recallbench.retrieval.pipeline.composite import PipelineStore
from recallbench.retrieval.planted import prove
from recallbench.retrieval.ranking import find_unequal_score
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.retrieval.static_control import StaticControl, open_static_control
from recallbench.retrieval.timing import Timings
from recallbench.runs.answering import Answering, open_answering
from recallbench.runs.assembly import assemble
from recallbench.runs.embedded_texts import FoundVectors, embed_texts
from recallbench.runs.forecast.ahead import Ahead, TextLengths, parts_of
from recallbench.runs.options import Options
from recallbench.runs.placement import leave_blocked, measured_folder, result_folder
from recallbench.runs.plan import Plan, plan_run
from recallbench.runs.reproduction import reproduce
from recallbench.runs.writing import Circumstances, write
from recallbench.stores.bm25 import BM25Store
from recallbench.stores.kept_words import KeptWords
from recallbench.stores.postgres import folders
from recallbench.stores.store import Store


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished run."""

    folder: Path
    metrics: Metrics
    reproduced: ReproductionRecord | None = None
    retrieval: Retrieval = field(default_factory=Retrieval, repr=False)
    """The rankings; empty for a run that was made before and is read from its folder."""


def run(options: Options, progress: Progress, today: date) -> Outcome:
    """Make one result. A missing prerequisite leaves a BLOCKED folder and raises Blocked."""
    if options.folder is not None:
        explicit_folder(options.folder)
    try:
        plan = plan_run(options)
        for line in plan.announcements:
            progress.note(line)
        return _run(plan, today, Ahead(progress))
    except Blocked as blocked:
        leave_blocked(options, blocked, today, progress)
        raise


def _run(plan: Plan, today: date, progress: Ahead) -> Outcome:
    started, since = datetime.now(UTC), time.perf_counter()
    # A server that outlived its run would go on for ever, so this is done whatever the run needs.
    folders.sweep()
    folder = result_folder(plan.options, plan.store, today)
    corpus = plan.open_corpus(progress)
    plan.refuse_absent_store()
    with ExitStack() as ending:
        embedder = ending.enter_context(plan.open_embedder(progress, recheck_own=_may_be_cited(plan, corpus)))
        # Opened before it is needed: an embedded server starts while texts are read and embedded.
        store = plan.open_system(embedder, progress)
        ending.callback(store.close)
        answering = open_answering(plan.pipeline, plan.options, progress)
        ending.callback(answering.close if answering is not None else lambda: None)
        static = None
        if plan.options.controls != "bm25":
            static = open_static_control(plan.options.cache_dir, plan.options.environ, progress)
            ending.callback(static.close)
        # What is loaded by now stays: the garbage collector need not walk it again for every batch of hits.
        gc.freeze()
        ending.callback(gc.unfreeze)
        timings = Timings()
        # A run with a limit does not ask for every text that the survey sees.
        found = FoundVectors(embedder) if embedder is not None and plan.options.limit is None else None
        lengths = TextLengths(plan.options.limit)
        survey = _survey(plan, corpus, found, lengths, timings, progress)
        kept = found is not None and found.all_passages
        progress.parts = parts_of(lengths, plan.store, embeds=embedder is not None, passages_kept=kept)
        if plan.options.limit is not None and plan.options.limit >= survey.asked:
            plan = replace(plan, options=replace(plan.options, limit=None))
        options = plan.options

        def haystacks() -> Iterable[Haystack]:
            return plan.select(corpus.haystacks())

        embedded = {}
        if embedder is not None:
            with timings.phase("embed"):
                embedded = embed_texts(haystacks(), embedder, survey.segments, found)
        if plan.timed:
            _prove(plan, haystacks, embedder, progress)
        retrieval = _retrieve(plan, haystacks, store, embedder, survey, timings, progress, static)
        answers = answering.answer(retrieval, haystacks(), timings, progress) if answering is not None else []
        with timings.phase("score"):
            metrics = assemble(
                plan,
                retrieval,
                survey,
                store=store,
                embedder=embedder,
                clarifications=applied(
                    plan.rules,
                    plan.corpus,
                    corpus.clarifications,
                    plan.store,
                    plan.embedder,
                    packed=embedder is not None and embedder.pack is not None,
                ),
                answering=answering,
                answers=answers,
                static=static,
            )
            _warn_of_two_scores(plan, store, metrics, retrieval, progress)
            metrics = with_verdict(metrics, plan.rules, plan.corpus, None)
        reproduced = None
        if plan.reproduction is not None:
            # What the run put into the system under test is gone before the published way is tried on it.
            store.close()
            with timings.phase("reproduce"):
                questions, again = reproduce(plan, plan.reproduction, corpus, embedder, survey, progress)
            reproduced = record(
                plan.reproduction, questions, again.segments, again.version, metrics, plan.corpus.sha256
            )
        circumstances = Circumstances(
            started,
            since,
            options,
            embedder.report() if embedder is not None else None,
            None if embedder is None else embedder.pack,
            embedded,
            _totals(store, answering),
            () if plan.pipeline is None else plan.pipeline.contexts,
        )
        texts = _texts(haystacks) if options.with_text else None
        folder = measured_folder(folder, options, plan.store, retrieval.version, today)
        folder = write(folder, metrics, retrieval, circumstances, texts, haystacks(), reproduced, answers)
    return Outcome(folder, metrics, reproduced, retrieval)


def _totals(store: Store, answering: Answering | None) -> list[dict[str, Any]]:
    """Return what each stage of a pipeline took, of those behind the ranking as well."""
    behind = {total["stage"]: total for total in answering.totals()} if answering is not None else {}
    totals = store.totals() if isinstance(store, PipelineStore) else []
    return [total | behind.get(total["stage"], {}) for total in totals]


def _may_be_cited(plan: Plan, corpus: Corpus) -> bool:
    """Return whether the result may be cited: it then rests on no cached vectors that were never rechecked.

    How many questions there are is not known yet, so a limit may turn out to be none.
    """
    return not departures(replace(plan.configuration(corpus.sha256), limit=None), plan.corpus, plan.rules)


def _survey(
    plan: Plan, corpus: Corpus, found: FoundVectors | None, lengths: TextLengths, timings: Timings, progress: Progress
) -> Survey:
    stage = progress.stage("reading the corpus", plan.corpus.segments or None, "segments")
    with timings.phase("survey"), stage as advance:

        def listen(haystack: Haystack) -> None:
            lengths.look(haystack)
            if found is not None:
                found.look(haystack)
            advance(len(haystack.segments))

        return corpus.survey(listen)


def _prove(plan: Plan, haystacks: Haystacks, embedder: Embedder | None, progress: Progress) -> None:
    """Prove of each store that is searched that it returns nothing from the future; raises InputError where it does."""
    for opening in plan.searched(progress):
        with closing(opening()) as store:
            progress.note(f"proving that {store.name} returns nothing from the future")
            calls = Calls(plan.rules.default_k, plan.options.depth)
            prove(haystacks, store, embedder, calls=calls, progress=progress, keep_going=plan.keeps_going)


def _retrieve(
    plan: Plan,
    haystacks: Haystacks,
    store: Store,
    embedder: Embedder | None,
    survey: Survey,
    timings: Timings,
    progress: Progress,
    static: StaticControl | None,
) -> Retrieval:
    options = plan.options
    with ExitStack() as open_files:
        control = None
        if not plan.is_control:
            words = open_files.enter_context(closing(KeptWords(options.cache_dir, progress)))
            control = BM25Store(words.count)
        return retrieve(
            haystacks,
            store,
            control,
            embedder,
            expected=survey.asked if options.limit is None else options.limit,
            calls=Calls(plan.rules.default_k, options.depth),
            timings=timings,
            progress=progress,
            keep_going=plan.keeps_going,
            static=static,
        )


def _warn_of_two_scores(plan: Plan, store: Store, metrics: Metrics, retrieval: Retrieval, progress: Progress) -> None:
    """Note that a segment has one score in each of two calls, where the store's own declaration rules that out."""
    own = plan.options.store_options
    k, depth = retrieval.calls.k, retrieval.calls.depth
    apart = sum(
        store.scores_alike(size, k, own, metrics.store.evidence) and find_unequal_score(short, deep) is not None
        for size, short, deep in zip(retrieval.candidates, retrieval.short or (), retrieval.rankings, strict=False)
    )
    if apart:
        progress.note(
            f"{store.name}: for {apart} questions a segment has another score in the call for {k} hits "
            f"than in that for {depth}, which an audit refuses; where that is right, say scores_depend_on_k"
        )


def _texts(haystacks: Callable[[], Iterable[Haystack]]) -> dict[str, str]:
    return {segment.id: segment.text for haystack in haystacks() for segment in haystack.segments}
