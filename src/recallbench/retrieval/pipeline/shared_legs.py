"""Legs that several pipelines have in common: filled once, and searched once for each question.

What a search took when it was made counts for every pipeline that is given its hits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import ClassVar

from recallbench.stores.store import Hit, Item, Matrix, Query, Store

_Key = tuple[int, str, str, range | None, bytes, int]
"""Scope, text, time, visible items, vector and depth of a search."""


@dataclass(slots=True)
class _FilledLeg:
    """A store that was filled, with the hits of every search so far."""

    store: Store
    filled: bool = False
    filler: object | None = None
    """Who fills it; nobody else then does."""
    hits: dict[_Key, list[Hit]] = field(default_factory=dict)
    seconds: dict[_Key, float] = field(default_factory=dict)
    """Of searches that were made by themselves, when they were made again."""


@dataclass(frozen=True, slots=True)
class SharedLegs:
    """The legs of pipelines that are asked the same questions over the same haystacks and vectors."""

    _legs: dict[tuple[str, ...], _FilledLeg] = field(default_factory=dict)
    _of: tuple[str, ...] = ()
    _closing: ExitStack = field(default_factory=ExitStack)

    def of(self, store: str, options: Mapping[str, str]) -> SharedLegs:
        """Return the same legs, for a pipeline whose store under test is this one."""
        return replace(self, _of=(store, *_words(options)))

    def open(self, method: str, options: Mapping[str, str], opening: Callable[[], Store]) -> SharedLeg:
        """Return the leg of this method and these options; opened by the first who asks for it."""
        key = (*(self._of if method == "store" else ()), "/", method, *_words(options))
        leg = self._legs.get(key)
        if leg is None:
            leg = self._legs[key] = _FilledLeg(opening())
            self._closing.callback(leg.store.close)
        return SharedLeg(leg, lambda: self._legs.pop(key, None))

    def close(self) -> None:
        """Close every store; may be called twice."""
        self._legs.clear()
        self._closing.close()


class SharedLeg(Store):
    """One pipeline's hold of a leg that others have too. To close it leaves the leg as it is."""

    summary: ClassVar[str] = "a leg of several pipelines"
    one_scope_at_a_time: ClassVar[bool] = False

    def __init__(self, leg: _FilledLeg, forsake: Callable[[], object], handle: Store | None = None) -> None:
        """`forsake` makes the next one who asks for the leg open another: this one could not be filled.

        A `handle` is that of a further caller, who searches the filled leg at the same time.
        """
        self._leg, self._forsake = leg, forsake
        self.name = leg.store.name
        self.needs_vectors = leg.store.needs_vectors
        self.prefix_stable = leg.store.prefix_stable
        self.filters_time = leg.store.filters_time
        self._waited = 0.0
        self._handle = handle
        if leg.filler is None:
            leg.filler = self

    @property
    def _fills(self) -> bool:
        return self._leg.filler is self and not self._leg.filled

    def prepare(self, dims: int) -> None:
        if self._fills:
            with self._forsaken_on_failure():
                self._leg.store.prepare(dims)

    def expect_time(self) -> None:
        if self._fills:
            with self._forsaken_on_failure():
                self._leg.store.expect_time()

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        if self._fills:
            with self._forsaken_on_failure():
                self._leg.store.ingest(items, vectors)

    def ready(self) -> None:
        if self._fills:
            with self._forsaken_on_failure():
                self._leg.store.ready()
            self._leg.filled = True

    def _forsaken_on_failure(self) -> ExitStack:
        failing = ExitStack()
        failing.push(lambda kind, *_: None if kind is None else (self._forsake(), None)[1])
        return failing

    def search(self, query: Query, k: int) -> list[Hit]:
        (hits,) = self.search_many([query], k)
        return hits

    def search_many(self, queries: Sequence[Query], k: int) -> Iterator[list[Hit]]:
        leg = self._leg
        keys = [_key(query, k) for query in queries]
        if len(queries) == 1 and keys[0] in leg.hits and self._handle is None:
            self._search_again(keys[0], queries[0], k)
        new = {key: query for key, query in zip(keys, queries, strict=True) if key not in leg.hits}
        for key, hits in zip(new, (self._handle or leg.store).search_many(list(new.values()), k), strict=True):
            leg.hits[key] = hits
        return iter([leg.hits[key] for key in keys])

    def _search_again(self, key: _Key, query: Query, k: int) -> None:
        """Time a search by itself, once it is warm; who asks for it later waits as long."""
        leg = self._leg
        if key in leg.seconds:
            self._waited += leg.seconds[key]
            return
        started = time.perf_counter()
        list(leg.store.search_many([query], k))
        leg.seconds[key] = time.perf_counter() - started

    @property
    def waited(self) -> float:
        return self._waited

    @property
    def one_caller(self) -> str:
        return self._leg.store.one_caller

    def another_caller(self) -> SharedLeg | None:
        handle = self._leg.store.another_caller()
        return None if handle is None else SharedLeg(self._leg, self._forsake, handle)

    def chill(self) -> str:
        return "not possible: other pipelines search the same leg"

    def round_trip(self) -> bool:
        return self._leg.store.round_trip()

    def version(self) -> str:
        return self._leg.store.version()

    def settings(self) -> Mapping[str, str]:
        return self._leg.store.settings()

    def evidence(self) -> Mapping[str, str]:
        return self._leg.store.evidence()

    def stored_bytes(self) -> Mapping[str, int]:
        return self._leg.store.stored_bytes()

    def server_cpu_seconds(self) -> float | None:
        return self._leg.store.server_cpu_seconds()

    def close(self) -> None:
        if self._handle is not None:
            self._handle.close()


def _words(options: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in sorted(options.items()))


def _key(query: Query, k: int) -> _Key:
    vector = b"" if query.vector is None else blake2b(query.vector.tobytes(), digest_size=16).digest()
    return query.scope, query.text, str(query.asked_at), query.visible, vector, k
