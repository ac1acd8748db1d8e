"""The run loop: every haystack into the store, every question to it, every ranking back."""

from __future__ import annotations

import hashlib
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from recallbench.corpora.records import Haystack
from recallbench.embedding.embedder import Embedder, Embeddings
from recallbench.errors import Blocked, InputError
from recallbench.escaping.terminal import shortened
from recallbench.machine_load import MachineReading
from recallbench.progress import Advance, Progress
from recallbench.retrieval.at_once import Attempt
from recallbench.retrieval.callers import ask_together
from recallbench.retrieval.failures import Failures
from recallbench.retrieval.opaque import OpaqueIds
from recallbench.retrieval.pipeline.composite import PipelineStore
from recallbench.retrieval.pipeline.trace import QuestionTrace
from recallbench.retrieval.ranking import Ranking, rank_hits
from recallbench.retrieval.record import Calls, Retrieval, SegmentTokens
from recallbench.retrieval.replay import REPLAYED, in_order_of_time, keep_time, moments
from recallbench.retrieval.request import Request, requests_of
from recallbench.retrieval.round_trips import time_round_trips
from recallbench.retrieval.timing import (
    COLD_SAMPLE,
    IN_THIS_PROCESS,
    SAMPLE,
    SLOW_SAMPLE,
    QueryTime,
    Timings,
    sample_evenly,
)
from recallbench.stores.outside.answer import question_of
from recallbench.stores.store import Hit, Item, Matrix, Store

COMPARING = "trying the pipeline without each stage"
"""What is done, for those who wait, when every question was asked."""
Haystacks = Callable[[], Iterable[Haystack]]


def retrieve(
    haystacks: Haystacks,
    store: Store,
    control: Store | None,
    embedder: Embedder | None,
    *,
    expected: int,
    calls: Calls,
    timings: Timings,
    progress: Progress,
    keep_going: bool = False,
    traced: bool = True,
    static: Store | None = None,
) -> Retrieval:
    """Ingest every haystack, then ask every question; `expected` is how many those are.

    Raises what the store raises on a question; with `keep_going` such a question gets an empty ranking, and stands in
    `failures`. A store that stays out of reach, or answers nothing at all, ends the run in any case.

    `control` is the lexical one; None where the store under test is that very one, which then is its own control.
    `static` is a second one beside it, where it was asked for.
    Of a pipeline it is noted what each stage handed on, unless not `traced`.

    A store that holds one scope at a time is asked right after each ingest, so that memory stays small; the lexical
    control always works that way. Any other store is asked once it holds everything, as it would be in use.
    """
    before = MachineReading.take()
    failures = Failures(keep_going=keep_going)
    result = Retrieval(calls, short=None if store.prefix_stable else [], timings=timings, failures=failures)
    result.tokens = SegmentTokens() if embedder is not None and embedder.max_tokens is not None else None
    ids, vector_hash = OpaqueIds(), hashlib.sha256()
    pipeline = store if isinstance(store, PipelineStore) else None
    most = SLOW_SAMPLE if pipeline is not None and pipeline.is_slow else SAMPLE
    timed_places = sample_evenly(expected, most) if expected else frozenset()
    waiting: list[Request] = []
    store.prepare(embedder.stored_dims if embedder is not None and store.needs_vectors else 0)
    controls: list[tuple[str, Store, list[Ranking]]] = []
    if control is not None:
        controls.append(("control", control, result.control))
    if static is not None:
        result.static = []
        controls.append(("static control", static, result.static))
    for _, each, _ in controls:
        each.prepare(0)
    if store.call_seconds is None:
        timings.undivided = IN_THIS_PROCESS
    result.version = store.version()
    timings.server = store.server_cpu_seconds
    if pipeline is not None:
        pipeline.recording = traced
    answers, asking = expected, "asking"
    if not store.prefix_stable:
        answers, asking = 2 * expected, f"asking twice, for {calls.k} hits and for {calls.depth}"
    stage = (
        (f"ingesting and {asking}", answers, "answers")
        if store.one_scope_at_a_time
        else ("ingesting", expected, "questions")
    )
    with progress.stage(*stage) as advance:
        for haystack in haystacks():
            scope = ids.admit(haystack)
            items = ids.items(haystack)
            embedded = embedder.lookup([s.text for s in haystack.segments], "passage") if embedder is not None else None
            if embedded is not None and result.tokens is not None:
                _note_tokens(result.tokens, haystack, embedded)
            questions = haystack.questions
            if not result.time and any(question.visible is not None for question in questions):
                result.time = keep_time(store, control, static)
            replayed = result.time == REPLAYED
            passages = embedded.vectors if embedded is not None and store.needs_vectors else None
            with result.timings.phase("ingest"):
                if replayed:
                    pass  # each item goes in when its time has come
                elif store.one_scope_at_a_time:
                    failures.attempt([q.id for q in questions], partial(store.ingest, items, passages), None)
                else:
                    store.ingest(items, passages)
            question_vectors = (
                embedder.lookup([q.text for q in questions], "query").vectors
                if embedder is not None and questions
                else None
            )
            for vectors in (None if embedded is None else embedded.vectors, question_vectors):
                vector_hash.update(b"" if vectors is None else np.ascontiguousarray(vectors).data)
            requests = requests_of(haystack, ids, question_vectors)
            result.questions.extend(questions)
            result.candidates += [request.candidates for request in requests]
            result.segments += scope.size
            result.characters[haystack.scope] = array("i", (len(segment.text) for segment in haystack.segments))
            for phase, each, rankings in controls:
                with result.timings.phase(phase):
                    each.ingest(items, None)
                    rankings += _rankings(calls.depth, lambda done: None, each, requests, Failures())
                    each.forget(scope.scope)
            if replayed:
                answered = advance if store.one_scope_at_a_time else _unheard
                in_its_moment = partial(
                    ask, store, result=result, advance=answered, timed=timed_places, progress=progress
                )
                _replay(store, items, passages, requests, result, in_its_moment)
            elif store.one_scope_at_a_time:
                ask(store, requests, result, advance, timed_places, progress)
            if store.one_scope_at_a_time:
                _note_stored(result.stored, store)
                store.forget(scope.scope)
            else:
                waiting += [] if replayed else requests
                advance(len(questions))
    if not store.one_scope_at_a_time:
        with result.timings.phase("ready"):
            store.ready()
        _note_stored(result.stored, store)
        if result.time != REPLAYED:
            with progress.stage(asking, answers, "answers") as advance:
                ask(store, waiting, result, advance, timed_places, progress)
    timings.note_load(before)
    failures.refuse_all_failed(len(result.questions))
    result.failed = [question.id for question in result.questions if question.id in failures.reasons]
    result.vectors_sha256 = vector_hash.hexdigest() if embedder is not None else ""
    if control is None:
        result.control = result.rankings
    return result


def _replay(
    store: Store,
    items: Sequence[Item],
    passages: Matrix | None,
    requests: Sequence[Request],
    result: Retrieval,
    asking: Callable[[Sequence[Request]], None],
) -> None:
    """Ask each question in its moment, and leave the answers in the order of the questions."""
    first = len(result.rankings)
    for together in moments(store, items, passages, requests, result.failures, result.timings):
        asking(together)
    order = in_order_of_time(requests)
    _put_back(result.rankings, first, order)
    if result.short is not None:
        _put_back(result.short, first, order)
    if result.traces:
        _put_back(result.traces, first, order)


def _put_back(answers: list[Any], first: int, order: Sequence[int]) -> None:
    """Sort the answers from a place on, which came in this order of the questions, into that of the questions."""
    came = dict(zip(order, answers[first:], strict=True))
    answers[first:] = [came[place] for place in range(len(order))]


def ask(
    store: Store,
    requests: Sequence[Request],
    result: Retrieval,
    advance: Advance,
    timed: frozenset[int],
    progress: Progress,
    callers: Sequence[Store] = (),
) -> None:
    """Add a filled store's answers to these requests; those whose places among all are `timed` are also asked alone.

    `callers` are further handles of the store, which ask at the same time as it; nothing is timed meanwhile.
    """
    with _naming_question(requests):
        _ask(store, requests, result, advance, timed, progress, callers)


@contextmanager
def _naming_question(requests: Sequence[Request]) -> Iterator[None]:
    """Put the id of a question beside its text, where that stands in a failure and is of one question alone."""
    try:
        yield
    except (InputError, Blocked) as error:
        asked = [request.question for request in requests if question_of(request.query) in error.problem]
        if len(asked) == 1:
            error.problem += f" (id {shortened(asked[0].label)})"
        raise


def _ask(
    store: Store,
    requests: Sequence[Request],
    result: Retrieval,
    advance: Advance,
    timed: frozenset[int],
    progress: Progress,
    callers: Sequence[Store],
) -> None:
    calls, timings, failures = result.calls, result.timings, result.failures
    sample = [request for i, request in enumerate(requests, start=len(result.rankings)) if i in timed]
    for request in sample[:COLD_SAMPLE]:
        timings.cold = store.chill()
        if timings.cold:
            break
        _time(store, [request], "cold", result)
    with timings.phase("search"):
        each = [store, *callers]
        deep = ask_together(each, requests, partial(_rankings, calls.depth, advance), failures)
        short = []
        if result.short is not None:
            short = ask_together(each, requests, partial(_rankings, calls.k, advance), failures)
    result.rankings += failures.empty_failed(deep)
    if result.short is not None:
        result.short += failures.empty_failed(short)
    if isinstance(store, PipelineStore) and store.recording:
        with timings.phase("stages compared"), progress.stage(COMPARING, len(requests), "questions") as compared:
            result.traces += _traces(store, requests, calls.depth, compared)
    _time(store, sample, "warm", result)
    if not timings.no_ops and sample:
        timings.no_ops += time_round_trips(store)


def _time(store: Store, sample: Sequence[Request], state: str, result: Retrieval) -> None:
    failures = result.failures
    for request in sample:
        id, search = request.question.id, partial(store.search, request.query, result.calls.depth)
        called = store.call_seconds
        started = time.perf_counter()
        answered = id not in failures.reasons and failures.attempt([id], search, None, timing=True) is not None
        seconds = time.perf_counter() - started if answered else failures.seconds[id]
        if not answered:
            result.timings.sample.append(QueryTime(id, "failed", 1000 * seconds))
            continue
        split: Mapping[str, float] = {}
        searching = seconds
        if isinstance(store, PipelineStore):
            searching, split = store.last_leg_seconds(), store.last_seconds()
            seconds += store.last_waited()
        stages = {stage: 1000 * part for stage, part in split.items()}
        timed = QueryTime(id, state, 1000 * seconds, stages)
        if called is not None and store.call_seconds is not None:
            call = store.call_seconds - called
            timed = replace(timed, store_call=1000 * call, adapter=1000 * max(0.0, searching - call))
        result.timings.sample.append(timed)


def _traces(store: PipelineStore, requests: Sequence[Request], depth: int, advance: Advance) -> Iterator[QuestionTrace]:
    """Yield the traces of these questions in their order; an empty one for each that failed."""
    places = {id(request.query): place for place, request in enumerate(requests)}
    traces = [QuestionTrace(request.question.id) for request in requests]
    for queries, batch in store.take_traces(depth, advance):
        for row, query in enumerate(queries):
            place = places[id(query)]
            request = requests[place]
            traces[place] = batch.question(row, request.question.id, request.scope.first_id)
    yield from traces


def _rankings(
    k: int, advance: Advance, store: Store, requests: Sequence[Request], failures: Failures
) -> Iterator[Ranking]:
    if not failures.keep_going:
        for ranking in _search(store, requests, k):
            yield ranking
            advance(1)
        return
    asked = [request for request in requests if request.question.id not in failures.reasons]
    came: Iterator[Attempt[list[Hit]]] | None = None
    if isinstance(store, PipelineStore) and store.together > 1:
        came = store.search_each([request.query for request in asked], k)
    for request in requests:
        id, empty = request.question.id, Ranking(request.question.id, (), ())
        if id in failures.reasons:
            yield empty
        elif came is None:
            yield failures.attempt([id], partial(_search_single, store, request, k), empty)
        else:
            found = next(came)
            rank = partial(_rank, request, found, k, store.name)
            yield failures.attempt([id], rank, empty, seconds=found.seconds)
        advance(1)


def _search(store: Store, requests: Sequence[Request], k: int) -> Iterator[Ranking]:
    answers: Iterator[list[Hit]] = store.search_many([request.query for request in requests], k)
    for request, hits in zip(requests, answers, strict=True):
        yield _ranked(request, hits, k, store.name)


def _rank(request: Request, found: Attempt[list[Hit]], k: int, store: str) -> Ranking:
    return _ranked(request, found.result(), k, store)


def _ranked(request: Request, hits: Sequence[Hit], k: int, store: str) -> Ranking:
    scope = request.scope
    return rank_hits(request.question.id, hits, scope.first_id, scope.size, k, store, request.candidates)


def _search_single(store: Store, request: Request, k: int) -> Ranking:
    (ranking,) = _search(store, [request], k)
    return ranking


def _unheard(done: int) -> None:
    """Advance nothing: what is replayed counts by haystack."""


def _note_stored(stored: dict[str, int], store: Store) -> None:
    for what, size in store.stored_bytes().items():
        stored[what] = stored.get(what, 0) + size


def _note_tokens(counts: SegmentTokens, haystack: Haystack, embedded: Embeddings) -> None:
    cuts = embedded.cut.tolist()
    counts.tokens.extend(embedded.tokens.tolist())
    for segment, cut in zip(haystack.segments, cuts, strict=True):
        counts.truncated.append(cut < len(segment.text))
        counts.gold_turn_starts.extend(segment.gold_turns)
        counts.gold_turn_cuts.extend([cut] * len(segment.gold_turns))
