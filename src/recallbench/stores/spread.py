"""Several servers in place of one: every scope lies on exactly one of them.

Scopes are dealt out in turn, in the order of the corpus: the first goes to the first server, the second to the second,
and so on. An exact search looks at one scope alone, so that rankings have the bytes of a run with one server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from copy import copy
from itertools import cycle
from typing import ClassVar, TypeVar

from recallbench.errors import RecallBenchError
from recallbench.progress import Progress, Silent
from recallbench.stores.spread_statement import SCOPES, dealt_out, on_server
from recallbench.stores.spread_status import refuse_unlike
from recallbench.stores.store import Hit, Item, Matrix, Query, Store

T = TypeVar("T")


class SpreadStore(Store):
    """Stores of one kind, each on a server of its own, as one store of that kind."""

    summary: ClassVar[str] = "one store over several servers"

    def __init__(
        self, opening: Callable[[str, Progress], Store], servers: Mapping[str, str], progress: Progress | None = None
    ) -> None:
        """`servers` are the addresses as they were given, by what may be shown of each."""
        self._progress, self._heard = progress or Silent(), _Notes()
        self._stores = [opening(address, self._heard) for address in servers.values()]
        self._names = [f"server {number} of {len(servers)}: {shown}" for number, shown in enumerate(servers, 1)]
        self._scopes: dict[int, int] = {}
        """The place of the server of each scope."""
        self._turns = cycle(range(len(servers)))
        first = self._stores[0]
        self.name, self.needs_vectors, self.prefix_stable = first.name, first.needs_vectors, first.prefix_stable
        self.filters_time, self.grows = first.filters_time, first.grows
        self.never_cold = first.never_cold  # type: ignore[misc]

    def prepare(self, dims: int) -> None:
        try:
            self._from_each(lambda store: store.prepare(dims))
            stated = self._from_each(lambda store: [store.version(), *_words(store.settings())])
            refuse_unlike(dict(zip(self._names, stated, strict=True)))
        except BaseException:
            self.close()
            raise

    def expect_time(self) -> None:
        self._from_each(lambda store: store.expect_time())

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        if not items:
            return
        place = self._scopes[items[0].scope] = self._place(items[0].scope)
        with self._progress.stage("taking in segments", len(items), "segments") as advance, self._naming(place):
            self._stores[place].ingest(items, vectors)
            advance(len(items))

    def ready(self) -> None:
        """Let all servers build at the same time what they need."""

        def build(place: int) -> None:
            with self._naming(place):
                self._stores[place].ready()

        number = len(self._stores)
        with ExitStack() as working:
            advance = working.enter_context(self._progress.stage(f"indexing on {number} servers", number, "servers"))
            pool = ThreadPoolExecutor(number)
            working.callback(pool.shutdown, cancel_futures=True)
            try:
                for done in as_completed([pool.submit(build, place) for place in range(number)]):
                    done.result()
                    advance(1)
            except BaseException:
                # On a failure, or on Ctrl-C, no server goes on building what nobody wants any more.
                for store in self._stores:
                    store.cancel()
                raise
        self._tell()

    def search(self, query: Query, k: int) -> list[Hit]:
        place = self._place(query.scope)
        with self._naming(place):
            return self._stores[place].search(query, k)

    def search_many(self, queries: Sequence[Query], k: int) -> Iterator[list[Hit]]:
        # Each server works on a block of its own questions while the answers of another are handed on.
        own: dict[int, list[Query]] = {}
        for query in queries:
            own.setdefault(self._place(query.scope), []).append(query)
        answers = {place: self._stores[place].search_many(asked, k) for place, asked in own.items()}
        for query in queries:
            place = self._place(query.scope)
            with self._naming(place):
                hits = next(answers[place])
            yield hits

    @property
    def one_caller(self) -> str:
        return next((why for store in self._stores if (why := store.one_caller)), "")

    def another_caller(self) -> SpreadStore | None:
        if self.one_caller:
            return None
        handle = copy(self)
        handle._stores = []
        try:
            for place, store in enumerate(self._stores):
                with self._naming(place):
                    caller = store.another_caller()
                    assert caller is not None
                    handle._stores.append(caller)
        except BaseException:
            handle.close()
            raise
        return handle

    @property
    def call_seconds(self) -> float | None:
        seconds = [store.call_seconds for store in self._stores]
        known = [each for each in seconds if each is not None]
        return sum(known) if len(known) == len(seconds) else None

    def round_trip(self) -> bool:
        """Go to one server, as a question does; to the next one in the next call."""
        place = next(self._turns)
        with self._naming(place):
            return self._stores[place].round_trip()

    def chill(self) -> str:
        return next(filter(None, self._from_each(lambda store: store.chill())), "")

    def version(self) -> str:
        return _joined(self._from_each(lambda store: store.version()))

    def settings(self) -> Mapping[str, str]:
        each = self._from_each(lambda store: store.settings())
        return {name: _joined([settings.get(name, "unset") for settings in each]) for name in each[0]}

    def evidence(self) -> Mapping[str, str]:
        first, *others = self._from_each(lambda store: store.evidence())
        differing = {
            on_server(name, number): value
            for number, own in enumerate(others, 2)
            for name, value in own.items()
            if value != first.get(name)
        }
        places = list(self._scopes.values())
        counts = [str(places.count(place)) for place in range(len(self._stores))]
        return {**first, **differing, SCOPES: dealt_out(counts)}

    def stored_bytes(self) -> Mapping[str, int]:
        total: dict[str, int] = {}
        for each in self._from_each(lambda store: store.stored_bytes()):
            for name, number in each.items():
                total[name] = total.get(name, 0) + number
        return total

    def close(self) -> None:
        with ExitStack() as closing:
            closing.callback(self._tell)
            for store in self._stores:
                closing.callback(store.close)

    def _tell(self) -> None:
        """Say what the stores said meanwhile, each line once."""
        lines, self._heard.lines[:] = dict.fromkeys(self._heard.lines), []
        for line in lines:
            self._progress.note(line)

    def _place(self, scope: int) -> int:
        return (scope - 1) % len(self._stores)  # a run counts its scopes from 1

    def _from_each(self, ask: Callable[[Store], T]) -> list[T]:
        """Return what every store says, in order."""
        answers = []
        for place, store in enumerate(self._stores):
            with self._naming(place):
                answers.append(ask(store))
        return answers

    @contextmanager
    def _naming(self, place: int) -> Iterator[None]:
        """Let every error within say which server it is about."""
        try:
            yield
        except RecallBenchError as error:
            name = self._names[place]
            shown = f"({name.partition(': ')[2]})"
            problem = error.problem
            error.problem = problem.replace(shown, f"({name})") if shown in problem else f"{problem} ({name})"
            raise


class _Notes(Silent):
    """Keeps the lines that are said, some of them in threads, for whoever says them later."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        self.lines.append(text)


def _words(settings: Mapping[str, str]) -> list[str]:
    return [f"{name} = {value}" for name, value in sorted(settings.items())]


def _joined(values: Sequence[str]) -> str:
    """Return the value that all have, or every one of those that some have."""
    return " and ".join(dict.fromkeys(values))
