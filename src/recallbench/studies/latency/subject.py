"""A system that a latency study asks: filled, with a handle for each client."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from recallbench.embedding.embedder import Embedder
from recallbench.errors import Blocked, TooManyConnections
from recallbench.progress import Progress
from recallbench.results.load.levels import ColdPart, RoundTripsPart, Side, WarmUpPart
from recallbench.retrieval.load.arrivals import question_order
from recallbench.retrieval.load.call import Client
from recallbench.retrieval.load.filling import fill
from recallbench.retrieval.loop import Haystacks
from recallbench.retrieval.pipeline.composite import PipelineStore
from recallbench.retrieval.request import Request
from recallbench.retrieval.round_trips import time_round_trips
from recallbench.retrieval.timing import COLD_SAMPLE
from recallbench.runs.embedded_texts import embed_texts
from recallbench.runs.plan import Plan
from recallbench.stores.postgres.embedded import is_serving
from recallbench.stores.store import Hit, Store

WARM_CALLS = 200
WARM_SECONDS = 2.0
WARM_CALLS_EACH = 20
"""Calls of every further client before its first level."""


@dataclass(slots=True)
class Subject:
    """One system under load."""

    side: Side
    plan: Plan
    store: Store
    requests: Sequence[Request]
    stored: int
    size: int
    seed: int
    cold: ColdPart
    warm_calls: int = 0
    warm_seconds: float = 0.0
    round_trips: list[float] = field(default_factory=list)
    """Milliseconds of each round trip without work, once it is warm."""
    callers: list[Store] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """The hits that each call asks for."""
        return self.plan.options.depth

    @property
    def most_clients(self) -> int | None:
        """The most clients that can ask at once; None where any number can."""
        return 1 if self.store.one_caller else None

    @property
    def elsewhere(self) -> bool:
        """Whether a server answers that this program did not start: what that takes counts as other processes."""
        own = not self.plan.servers and ":" not in self.plan.store and is_serving()
        return not own and self.store.round_trip()

    @property
    def round_trips_part(self) -> RoundTripsPart:
        """The round trips without work, as the study states them."""
        return RoundTripsPart(side=self.side, size=self.size, ms=self.round_trips)

    @property
    def warm_up(self) -> WarmUpPart:
        """The calls before anything was timed."""
        return WarmUpPart(side=self.side, size=self.size, calls=self.warm_calls, seconds=round(self.warm_seconds, 3))

    def clients(self, clients: int) -> list[Client]:
        """Return that many clients; a new one asks some questions before."""
        before = len(self.callers)
        while len(self.callers) < clients:
            try:
                caller = self.store.another_caller()
            except TooManyConnections:
                self._end_callers(before)  # those that found room would take it from the levels to come
                raise
            if caller is None:
                raise Blocked(
                    f"{self.store.name} gave no handle to another caller",
                    expected=f"{clients} callers at once",
                    found=f"{len(self.callers)}",
                    remedy="--clients 1",
                )
            self.callers.append(caller)
            self._warm(caller, WARM_CALLS_EACH)
        return [
            Client(partial(self._search, caller), partial(_store_seconds, caller)) for caller in self.callers[:clients]
        ]

    def take_cold(self) -> None:
        """Time a few calls, each the first of a fresh session, where the store has such a thing."""
        milliseconds: list[float] = []
        why = ""
        for place in islice(question_order(len(self.requests), self.seed), COLD_SAMPLE):
            why = self.store.chill()
            if why:
                break
            started = time.perf_counter()
            self._search(self.store, place)
            milliseconds.append(round(1000 * (time.perf_counter() - started), 4))
        self.cold = ColdPart(side=self.side, size=self.size, ms=milliseconds, why_none=why)

    def warm(self) -> None:
        """Ask questions until the store is warm; raises what it refuses them with."""
        self.callers = [self.store]
        self._warm(self.store, WARM_CALLS)
        self.round_trips = [round(each, 4) for each in time_round_trips(self.store)]

    def _warm(self, caller: Store, most: int) -> None:
        started = time.perf_counter()
        for place in islice(question_order(len(self.requests), self.seed + len(self.callers)), most):
            self._search(caller, place)
            self.warm_calls += 1
            if time.perf_counter() - started > WARM_SECONDS:
                break
        self.warm_seconds += time.perf_counter() - started

    def _search(self, caller: Store, place: int) -> Sequence[Hit]:
        hits = caller.search(self.requests[place].query, self.depth)
        if isinstance(caller, PipelineStore) and (waited := caller.last_waited()):
            time.sleep(waited)  # an answer that was kept: its caller waits as long as for the answer itself
        return hits

    def end_callers(self) -> None:
        """Close the handles of all clients but the store itself."""
        self._end_callers(1)

    def _end_callers(self, kept: int) -> None:
        with ExitStack() as closing:
            for caller in self.callers[kept:]:
                closing.callback(caller.close)
            self.callers = self.callers[:kept]


def _store_seconds(caller: Store) -> float | None:
    return caller.call_seconds


@contextmanager
def open_subject(
    side: Side, plan: Plan, embedder: Embedder | None, haystacks: Haystacks, size: int, seed: int, progress: Progress
) -> Iterator[Subject]:
    """Embed the texts, open the plan's system and fill it; after the block it is closed."""
    sizes: Mapping[str, int] = {haystack.scope: len(haystack.segments) for haystack in haystacks()}
    if embedder is not None:
        embed_texts(haystacks(), embedder, sum(sizes.values()))
    with ExitStack() as closing:
        store = plan.open_system(embedder, progress)
        closing.callback(store.close)
        requests = fill(store, haystacks(), embedder, progress)
        none = ColdPart(side=side, size=size, ms=[], why_none="")
        subject = Subject(side, plan, store, requests, sum(sizes.values()), size, seed, none)
        closing.callback(subject.end_callers)
        yield subject
