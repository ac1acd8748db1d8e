"""One call under load: when it was to start, when it did, and when its caller had the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from recallbench.errors import Blocked, InputError
from recallbench.retrieval.load.clock import Clock
from recallbench.stores.store import Hit

Ask = Callable[[int], Sequence[Hit]]
"""Puts the question of that place to a store."""


def _one_with_the_store() -> float | None:
    return None


@dataclass(frozen=True, slots=True)
class Client:
    """Somebody who asks, one question after the other."""

    ask: Ask
    """Its own way to the store."""
    store_seconds: Callable[[], float | None] = _one_with_the_store
    """Returns what the calls of the system took on that way until now; None where it runs in this process."""


@dataclass(frozen=True, slots=True)
class LoadCall:
    """One question asked under load; all moments are seconds from the start of its level."""

    question: int
    """The place of the question."""
    client: int
    intended: float
    """When it was to start; in a closed loop, when it did."""
    due: float
    """When a client was free for it, at or after the intended start."""
    started: float
    finished: float
    hits: Sequence[Hit] | None
    """None where it failed."""
    failure: str = ""
    store_call: float | None = None
    """Seconds of the calls of the system alone, without the adapter around them; None where they are not told."""

    @property
    def latency(self) -> float:
        """Seconds that its caller waits, from the intended start on: behind a stall as well."""
        return self.finished - self.intended

    @property
    def service(self) -> float:
        """Seconds that the store took for it."""
        return self.finished - self.started

    @property
    def lag(self) -> float:
        """Seconds by which the generator itself was late: a client was free, and the start had come."""
        return self.started - self.due


@dataclass(frozen=True, slots=True)
class LoadLevel:
    """All calls of a level or of a block of one, by their start."""

    calls: tuple[LoadCall, ...]
    clients: int
    seconds: float
    """From the start until the last answer."""
    skipped: tuple[float, ...] = ()
    """Intended starts of the arrivals that no client was free for in time."""
    planned: float = 0.0
    """Seconds over which arrivals were to come; 0 of a closed loop."""

    @property
    def unanswered_at_end(self) -> int:
        """Arrivals without an answer when the last had come."""
        return len(self.skipped) + sum(call.finished > self.planned for call in self.calls)


@dataclass(slots=True)
class AnswerBook:
    """One copy of each answer: a level asks a question again, and a store mostly answers it alike."""

    _first: dict[int, Sequence[Hit]] = field(default_factory=dict)

    def kept(self, question: int, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Return the first answer to that question where this one is equal."""
        first = self._first.setdefault(question, hits)
        return first if first == hits else hits


def timed_call(
    client: Client,
    question: int,
    number: int,
    clock: Clock,
    origin: float,
    book: AnswerBook,
    intended: float | None,
    free: float,
) -> LoadCall:
    """Ask a question and return the call; `free` is when the client of that number had nothing else to do.

    Without an intended start the call is to start when it does. A refusal of the store is noted, and ends nothing.
    """
    called = client.store_seconds()
    started = clock.now() - origin
    failure, hits = "", None
    try:
        hits = client.ask(question)
    except (InputError, Blocked) as error:
        failure = error.brief
    finished = clock.now() - origin
    spent = client.store_seconds()
    return LoadCall(
        question=question,
        client=number,
        intended=started if intended is None else intended,
        due=started if intended is None else max(intended, free),
        started=started,
        finished=finished,
        hits=None if hits is None else book.kept(question, hits),
        failure=failure,
        store_call=None if called is None or spent is None else spent - called,
    )
