"""The interface of a memory under test."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from recallbench.stores.options import StoreOption
from recallbench.stores.request import StoreRequest, StoreStatus
from recallbench.stores.statement import Statement

Servers = Literal["none", "one", "several"]
Vector = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Item:
    """A segment as a store sees it: numbers that mean nothing, and the text.

    Ids grow with the haystack position inside a scope; neighbouring sessions have neighbouring ids.
    """

    id: int
    scope: int
    text: str
    occurred_at: datetime | None
    importance: float


@dataclass(frozen=True, slots=True)
class Query:
    """A question as a store sees it."""

    scope: int
    text: str
    vector: Vector | None
    asked_at: datetime | None = None
    visible: range | None = None
    """The ids of the items that were there when it was asked, the first of its scope; None for all of the scope."""


class Hit(NamedTuple):
    """One remembered item and the score it got."""

    id: int
    score: float


IN_PROCESS = "not possible: the store runs inside this process"
ELSEWHERE = "not possible: what the server keeps warm is its own"
UNSAID = "the store does not say that several callers may search it at once"


class Store(ABC):
    """A memory under test."""

    name: str
    """Its name in results; that of an outside system is its address, without any secret."""
    summary: ClassVar[str]
    """A few words about it, for `recallbench stores`."""
    options: ClassVar[tuple[StoreOption, ...]] = ()
    """The options that a user can set; `open` and the class methods below are given the values by name."""
    needs_vectors: bool = True
    prefix_stable: bool = False
    """The first 10 of a call with k=50 are what a call with k=10 returns (proved by a test)."""
    one_scope_at_a_time: ClassVar[bool] = False
    """An in-process store: each scope is searched right after it was ingested, and forgotten after."""
    filters_time: bool = False
    """It answers a query that says what is `visible` as if the scope held nothing else (proved by a test)."""
    grows: bool = False
    """A scope may get more items after it was searched, and is then searched at once, without another `ready`."""
    servers: ClassVar[Servers] = "none"
    """How many Postgres servers (--dsn) it can lie on; over several, each scope is on one of them."""
    never_cold: ClassVar[str] = IN_PROCESS
    """Why no query of it can be a cold one; empty where one can."""

    outside: ClassVar[bool] = False
    """A system of the user's own: it says itself whether it needs vectors, and need not state settings."""

    @classmethod
    def open(cls, request: StoreRequest) -> Self:
        """The store, not yet prepared."""
        return cls()

    @classmethod
    def status(cls, request: StoreRequest) -> StoreStatus:
        """Return whether it could be used now; starts no server and changes nothing. An error is shown instead."""
        return StoreStatus(True, "in this process")

    @classmethod
    def find_option(cls, name: str) -> StoreOption | None:
        """Return the option of that name; None where it has none."""
        return next((option for option in cls.options if option.name == name), None)

    @classmethod
    def asks_vectors(cls, request: StoreRequest) -> bool:
        """Whether it is to be given vectors; only asked where it is `outside`."""
        return cls.needs_vectors

    @classmethod
    def asks_time(cls, request: StoreRequest) -> bool:
        """Whether it filters by time; only asked where it is `outside`."""
        return cls.filters_time

    @classmethod
    def states(cls, name: str, options: Mapping[str, Any]) -> tuple[Statement, ...]:
        """Return the statements, one of which a store with these options makes; empty where anything fits."""
        return ()

    @classmethod
    def score_range(cls, options: Mapping[str, Any]) -> tuple[float, float]:
        """Between which bounds every score lies when it runs with these options."""
        return -inf, inf

    @classmethod
    def check_together(cls, options: Mapping[str, Any]) -> None:
        """Raise UsageError where options, each of them right by itself, can't go together."""
        return

    @classmethod
    def limits(cls, options: Mapping[str, Any], calls: Sequence[int]) -> tuple[str, ...]:
        """Return what makes answers to calls for so many hits short with these options, in a line each."""
        return ()

    @classmethod
    def keeps_prefix(cls, options: Mapping[str, Any]) -> bool:
        """Whether it is `prefix_stable` with these options."""
        return cls.prefix_stable

    @classmethod
    def scores_alike(cls, size: int, k: int, options: Mapping[str, Any], evidence: Mapping[str, str]) -> bool:
        """Whether an item of a scope of `size` items gets one score in every call for `k` items or more; `evidence` is
        how the store said that it worked."""
        return cls.prefix_stable

    @abstractmethod
    def prepare(self, dims: int) -> None:
        """Get ready to hold vectors of `dims` (0: none); raises Blocked when a prerequisite is missing."""

    def expect_time(self) -> None:
        """Get ready for queries that say what is visible or, where it does not filter by that, for scopes that grow.

        Called after `prepare`, before the first scope that needs it.
        """
        return

    @abstractmethod
    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        """Hold these items; row i of `vectors` belongs to item i. Called once per scope, unless that is to grow."""

    def ready(self) -> None:
        """Build what searching needs, once all scopes were ingested."""
        return

    @abstractmethod
    def search(self, query: Query, k: int) -> list[Hit]:
        """The k best items of the query's scope, best first, ties by id; fewer only if there are fewer."""

    def search_many(self, queries: Sequence[Query], k: int) -> Iterator[list[Hit]]:
        """The same for many queries, in order; a store with a faster way overrides this."""
        for query in queries:
            yield self.search(query, k)

    @property
    def one_caller(self) -> str:
        """Why it takes one caller at a time; empty where `another_caller` gives a handle. Known once it is prepared."""
        return UNSAID

    def another_caller(self) -> Store | None:
        """Return a handle that may search at the same time as this one, in another thread, over what it holds now.

        None where `one_caller` says why there is none. Its caller closes it, before the store: that drops no data.
        """
        return None

    @property
    def call_seconds(self) -> float | None:
        """Seconds that its calls of the system under test took until now, without packing, unpacking and checks.

        None where it is that system itself: then all that a search takes is the call. Single searches are what it is
        read for: of many at once it may count the time in which one waits for another.
        """
        return None

    @property
    def waited(self) -> float:
        """Seconds that kept answers took when they were asked for: they are part of the time of a search."""
        return 0.0

    def round_trip(self) -> bool:
        """Go over the transport of its searches once, with nothing to do at its end; False where there is none."""
        return False

    def forget(self, scope: int) -> None:
        """Drop one scope (only called on stores that hold one scope at a time)."""
        return

    def chill(self) -> str:
        """Make the next query a cold one, as far as the system allows; returns why it can't be, empty when done."""
        return self.never_cold

    @abstractmethod
    def version(self) -> str:
        """The version of the system under test, as it states it itself."""

    @abstractmethod
    def settings(self) -> Mapping[str, str]:
        """Return the settings in force, read back from the system; they go into guc_state."""

    def evidence(self) -> Mapping[str, str]:
        """Return how the system worked: index kind, the plan that ran, server version."""
        return {}

    def stored_bytes(self) -> Mapping[str, int]:
        """Return the bytes that it holds now, by what they are; empty where it can't say."""
        return {}

    def server_cpu_seconds(self) -> float | None:
        """Return the seconds of processors that its server has had so far; None where that is not one of our own.

        Asked at the ends of each phase, so it is to take less than a millisecond.
        """
        return None

    def cancel(self) -> None:
        """End what its server does for it now, from another thread; that call then fails."""
        return

    @abstractmethod
    def close(self) -> None:
        """Release everything; leaves nothing behind. May be called twice."""
