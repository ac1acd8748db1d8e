"""Asking the system of one point: opened and filled when the first question needs it, and only then."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import date
from random import Random

from recallbench.corpora.records import Haystack, Question
from recallbench.embedding.embedder import Embedder
from recallbench.embedding.machine import cpu_model
from recallbench.progress import Progress
from recallbench.retrieval.failures import Failures
from recallbench.retrieval.load.filling import fill
from recallbench.retrieval.loop import ask
from recallbench.retrieval.pipeline.composite import PipelineStore
from recallbench.retrieval.pipeline.shared_legs import SharedLegs
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.retrieval.request import Request
from recallbench.retrieval.timing import SAMPLE, SLOW_SAMPLE, sample_evenly
from recallbench.runs.plan import Plan
from recallbench.stores.store import Store
from recallbench.studies.sweep.kept import Answers


class AskedSystem:
    """The system of one point, and its answers so far."""

    def __init__(
        self,
        plan: Plan,
        embedder: Embedder | None,
        haystacks: Sequence[Haystack],
        answers: Answers | None,
        legs: SharedLegs,
        progress: Progress,
        today: date,
        *,
        seed: int | None = None,
        at_once: int = 1,
    ) -> None:
        """`seed` decides the order in which haystacks are filled; None for that of the corpus.

        So many callers ask `at_once`, where the store takes several. Questions are timed one by one all the same.
        """
        self._plan, self._embedder, self._haystacks = plan, embedder, haystacks
        self._legs, self._progress = legs, progress
        self._closing = ExitStack()
        self._store: Store | None = None
        self._requests: dict[str, Request] = {}
        self._calls = Calls(plan.rules.default_k, plan.options.depth)
        self._retrieval = Retrieval(self._calls)
        self._timed: frozenset[str] = frozenset()
        self._kept = answers
        self._today = today
        self._seed, self._at_once = seed, at_once
        self._callers: list[Store] = []
        self.one_caller = ""
        """Why a single caller asked it, where several were to."""

    def close(self) -> None:
        """Close the system; its shared legs stay. May be called twice."""
        self._closing.close()

    @property
    def answers(self) -> Answers:
        """Everything that was answered, now or before."""
        assert self._kept is not None
        return self._kept

    @property
    def asked(self) -> bool:
        """Whether anything was asked now: all else had been kept."""
        return self._store is not None

    def ask(self, questions: Sequence[Question]) -> None:
        """Ask those questions that have no answer yet."""
        missing = questions if self._kept is None else self._kept.missing(questions)
        if not missing:
            return
        store = self._store or self._open()
        requests = [self._requests[question.id] for question in missing]
        result = self._retrieval
        first = len(result.rankings)
        result.questions += missing
        result.candidates += [request.candidates for request in requests]
        timed = frozenset(first + place for place, question in enumerate(missing) if question.id in self._timed)
        with self._progress.stage("asking", len(missing) * (1 if result.short is None else 2), "answers") as advance:
            ask(store, requests, result, advance, timed, self._progress, self._callers)
        self._note(store, first)

    def _open(self) -> Store:
        plan = self._plan
        plan.refuse_absent_store()
        store = plan.open_system(self._embedder, self._progress, self._legs)
        self._closing.callback(store.close)
        result = self._retrieval
        haystacks = list(self._haystacks)
        if self._seed is not None:
            Random(self._seed).shuffle(haystacks)
        requests = fill(store, haystacks, self._embedder, self._progress, result.timings)
        self._requests = {request.question.id: request for request in requests}
        most = SLOW_SAMPLE if isinstance(store, PipelineStore) and store.is_slow else SAMPLE
        # The same questions are timed whatever the order.
        ids = [question.id for haystack in self._haystacks for question in haystack.questions]
        self._timed = frozenset(ids[place] for place in sample_evenly(len(ids), most))
        result.short = None if store.prefix_stable else []
        result.failures = Failures(keep_going=plan.keeps_going)
        result.version = store.version()
        if self._kept is None:
            self._kept = Answers(result.version, short=None if result.short is None else {})
        if self._at_once > 1:
            self._open_callers(store)
        self._store = store
        return store

    def _open_callers(self, store: Store) -> None:
        self.one_caller = store.one_caller
        while not self.one_caller and len(self._callers) < self._at_once - 1:
            caller = store.another_caller()
            if caller is None:
                self.one_caller = "it gave no handle to another caller"
                return
            self._closing.callback(caller.close)
            self._callers.append(caller)

    def _note(self, store: Store, first: int) -> None:
        """Take over what was answered from this place on."""
        result, kept = self._retrieval, self.answers
        result.failures.refuse_all_failed(len(result.questions))
        kept.deep |= {ranking.question_id: ranking.positions for ranking in result.rankings[first:]}
        if result.short is not None:
            short = kept.short if kept.short is not None else {}
            kept.short = short | {ranking.question_id: ranking.positions for ranking in result.short[first:]}
        kept.failed |= {id: error.brief for id, error in result.failures.reasons.items()}
        warm = [time for time in result.timings.sample if time.state == "warm"]
        kept.milliseconds |= {time.question_id: round(time.milliseconds, 4) for time in warm}
        kept.seconds |= {phase: round(seconds, 4) for phase, seconds in result.timings.phases.items()}
        kept.version, kept.measured, kept.cpu = result.version, self._today.isoformat(), cpu_model()
