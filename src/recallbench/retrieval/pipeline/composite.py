"""A pipeline as a store: every command that measures a store can measure it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, ClassVar

from recallbench.progress import Advance
from recallbench.retrieval.at_once import Attempt
from recallbench.retrieval.pipeline.chain import Chain, Encode, Leg, OpenedStage, Passage
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.retrieval.pipeline.trace import BatchTrace
from recallbench.retrieval.ranking import sort_hits
from recallbench.retrieval.stages.candidates import Memory
from recallbench.retrieval.stages.stage import QuestionBatch
from recallbench.stores.store import Hit, Item, Matrix, Query, Store
from recallbench.usage import Usage

AT_ONCE = 256
"""Questions that go through the stages together; one by one where a stage is slow, so that its progress is seen."""
ROUNDS = 4
"""Where a stage asks several questions at once, how many times as many go through it before the next stage has them."""


class PipelineStore(Store):
    """Stages over one or more stores. It has the name and version of its main leg's store."""

    summary: ClassVar[str] = "a pipeline of stages"
    prefix_stable: bool = True  # each leg is searched to its own depth, whatever the call asks for
    options = ()

    def __init__(
        self, pipeline: Pipeline, legs: Sequence[Leg], stages: Sequence[OpenedStage], encode: Encode | None
    ) -> None:
        self.pipeline = pipeline
        self.stages = stages
        self.legs = legs
        self.main = next(leg.store for leg in legs if leg.spec is pipeline.main_leg)
        self.name = self.main.name
        self.one_scope_at_a_time = all(leg.store.one_scope_at_a_time for leg in legs)  # type: ignore[misc]
        needs_vectors = any(opened.stage.needs_vectors for opened in stages)
        self.needs_vectors = needs_vectors or any(leg.store.needs_vectors for leg in legs)
        self.filters_time = all(leg.store.filters_time for leg in legs)
        self.grows = all(leg.store.grows for leg in legs)
        self.is_slow = any(opened.stage.slow for opened in stages)
        self.recording = False
        """Whether what every stage hands on is kept, until `take_traces` has it."""
        self._passages: list[Passage] = []
        self._memory = Memory(texts=any(opened.stage.needs_texts for opened in stages), vectors=needs_vectors)
        self._encode = encode
        self._chain = Chain(legs, stages, encode)
        self._own_stages: Sequence[OpenedStage] = stages
        """The stages that end with it; none of a handle for another caller."""
        self._seconds: dict[str, float] = {}
        self._compared = {opened.spec.name: Usage() for opened in stages}
        """What the comparisons without a stage cost: no part of the pipeline's own cost."""

    def prepare(self, dims: int) -> None:
        for leg in self.legs:
            leg.store.prepare(dims if leg.store.needs_vectors else 0)

    def expect_time(self) -> None:
        for leg in self.legs:
            leg.store.expect_time()

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        for leg in self.legs:
            leg.store.ingest(items, vectors if leg.store.needs_vectors else None)
        self._memory.add(items, vectors)

    def ready(self) -> None:
        for leg in self.legs:
            leg.store.ready()

    def search(self, query: Query, k: int) -> list[Hit]:
        self._chain.seconds, self._chain.waited = {}, 0.0
        return self._chain.pass_through(QuestionBatch([query], self._memory, timed=True)).final.first(k).hits_of(0)

    def search_many(self, queries: Sequence[Query], k: int) -> Iterator[list[Hit]]:
        if self.together > 1:
            yield from (attempt.result() for attempt in self.search_each(queries, k))
            return
        at_once = 1 if self.is_slow else AT_ONCE
        for start in range(0, len(queries), at_once):
            self._chain.seconds = self._seconds
            passage = self._chain.pass_through(QuestionBatch(queries[start : start + at_once], self._memory))
            if self.recording:
                self._passages.append(passage)
            yield from passage.final.first(k).hits()

    @property
    def together(self) -> int:
        """How many questions go through the stages together, each by itself: one, unless a stage asks several."""
        most = max((opened.stage.at_once for opened in self.stages), default=1)
        return 1 if most == 1 else ROUNDS * most

    def search_each(self, queries: Sequence[Query], k: int) -> Iterator[Attempt[list[Hit]]]:
        """Yield what came of each question, in their order; one that fails stops no other."""
        for start in range(0, len(queries), self.together):
            self._chain.seconds = self._seconds
            batches = [QuestionBatch([query], self._memory) for query in queries[start : start + self.together]]
            for attempt in self._chain.pass_each(batches):
                if attempt.error is not None:
                    yield Attempt(None, attempt.error, attempt.seconds)
                    continue
                passage = attempt.result()
                if self.recording:
                    self._passages.append(passage)
                yield Attempt(passage.final.first(k).hits_of(0), None, attempt.seconds)

    def last_seconds(self) -> Mapping[str, float]:
        """Return what the last single search took, by stage."""
        return dict(self._chain.seconds)

    def last_waited(self) -> float:
        """Return the seconds among them that nobody waited for, since an answer had been kept."""
        return self._chain.waited

    def take_traces(self, depth: int, advance: Advance) -> Iterator[tuple[Sequence[Query], BatchTrace]]:
        """Yield what was recorded since the last call, with the rankings without each stage, cut at this depth."""
        passages, self._passages = self._passages, []
        self._chain.seconds = {}  # what is done once more for a comparison is no part of the pipeline's own time
        for start in range(0, len(passages), self.together):
            some = passages[start : start + self.together]
            traces = [passage.trace() for passage in some]
            for name in self.compared:
                self._compare(name, some, depth, traces)
            for passage, trace in zip(some, traces, strict=True):
                yield passage.batch.queries, trace
                advance(len(passage.batch))

    @property
    def compared(self) -> list[str]:
        """The stages that the pipeline could do without, by name."""
        return [spec.name for spec in self.pipeline.compared]

    def _compare(self, name: str, passages: Sequence[Passage], depth: int, traces: Sequence[BatchTrace]) -> None:
        """Note what comes out without a stage: without a fuse, of each leg alone."""
        fuses = any(name == spec.name for spec in self.pipeline.of_kind("fuse"))
        legs = [leg.spec.name for leg in self.legs] if fuses else [""]
        by_leg = [list(self._without(name, leg, passages, depth)) for leg in legs]
        for passage, trace, *found in zip(passages, traces, *by_leg, strict=True):
            for leg, outcome in zip(legs, found, strict=True):
                place, key = (trace.without, name) if leg == legs[0] else (trace.alone, leg)
                if outcome is not None:
                    place[key] = outcome[0]
            again = [outcome[1] for outcome in found if outcome is not None and outcome[1] is not None]
            if again:
                trace.again[name] = [any(again)] * len(passage.batch)

    def _without(
        self, name: str, leg: str, passages: Sequence[Passage], depth: int
    ) -> Iterator[tuple[list[tuple[int, ...] | None], bool | None] | None]:
        """Yield of each the rankings without a stage, None for each where that failed, and whether any worked again."""
        before = [opened.stage.usage for opened in self.stages]
        attempts = self._chain.each_without(name, passages, leg)
        for opened, usage in zip(self.stages, before, strict=True):
            self._compared[opened.spec.name] += opened.stage.usage - usage
        for passage, attempt in zip(passages, attempts, strict=True):
            if attempt.error is not None and self.pipeline.asks_endpoint:
                # The question was answered: only its comparison is missing.
                yield [None] * len(passage.batch), None
                continue
            outcome = attempt.result()
            if outcome is None:
                yield None
            else:
                final, again = outcome
                yield [sort_hits(hits)[0] for hits in final.first(depth).hits()], again

    def totals(self) -> list[dict[str, Any]]:
        """Return for each stage its seconds over all questions, its tokens, and what else differs from run to run."""
        opened = {each.spec.name: each.stage for each in self.stages}
        totals: list[dict[str, Any]] = []
        for spec in self.pipeline:
            stage = opened.get(spec.name)
            total: dict[str, Any] = {"stage": spec.name, "seconds": round(self._seconds.get(spec.name, 0.0), 6)}
            if stage is not None:
                compared = self._compared[spec.name]
                for what, usage in (("tokens", stage.usage - compared), ("tokens_of_comparisons", compared)):
                    total |= {what: usage.document()} if usage != Usage() else {}
                total |= stage.circumstances()
            totals.append(total)
        return totals

    @property
    def one_caller(self) -> str:
        for opened in self.stages:
            if opened.stage.slow or opened.spec.kind == "rewrite":
                return f"the stage {opened.spec.name} works for one caller at a time"
        return next((f"{leg.spec.name}: {why}" for leg in self.legs if (why := leg.store.one_caller)), "")

    def another_caller(self) -> PipelineStore | None:
        if self.one_caller:
            return None
        legs: list[Leg] = []
        with ExitStack() as opened:
            for leg in self.legs:
                store = leg.store.another_caller()
                if store is None:
                    return None
                opened.callback(store.close)
                legs.append(Leg(leg.spec, store, leg.depth))
            opened.pop_all()
        handle = PipelineStore(self.pipeline, legs, self.stages, self._encode)
        handle._memory, handle._own_stages = self._memory, ()
        return handle

    @property
    def call_seconds(self) -> float | None:
        """The calls of the legs that go elsewhere; None where all of them run in this process."""
        each = [seconds for leg in self.legs if (seconds := leg.store.call_seconds) is not None]
        return sum(each) if each else None

    def last_leg_seconds(self) -> float:
        """Return what the legs that go elsewhere took of the last single search, with their adapters."""
        elsewhere = [leg.spec.name for leg in self.legs if leg.store.call_seconds is not None]
        return sum(self._chain.seconds.get(name, 0.0) for name in elsewhere)

    def round_trip(self) -> bool:
        """Go over the transport of every leg that has one."""
        trips = [leg.store.round_trip() for leg in self.legs]
        return any(trips)

    def forget(self, scope: int) -> None:
        for leg in self.legs:
            if leg.store.one_scope_at_a_time:
                leg.store.forget(scope)
        self._memory.forget(scope)

    def chill(self) -> str:
        reasons = [leg.store.chill() for leg in self.legs]
        return next(filter(None, reasons), "")

    def version(self) -> str:
        return self.main.version()

    def settings(self) -> Mapping[str, str]:
        return self.main.settings()

    def evidence(self) -> Mapping[str, str]:
        return self.main.evidence()

    def stored_bytes(self) -> Mapping[str, int]:
        return {
            f"{leg.spec.name}: {what}": size for leg in self.legs for what, size in leg.store.stored_bytes().items()
        }

    def server_cpu_seconds(self) -> float | None:
        told = [seconds for leg in self.legs if (seconds := leg.store.server_cpu_seconds()) is not None]
        return sum(told) if told else None

    def close(self) -> None:
        with ExitStack() as closing:
            for part in _parts(self):
                closing.callback(part.close)


def _parts(store: PipelineStore) -> Iterable[Any]:
    return (*(opened.stage for opened in store._own_stages), *(leg.store for leg in store.legs))
