"""Several questions on their way through the stages together: only what waits for a server is done at once.

All else is done for one question after another, as if each were alone: what comes out has the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from recallbench.errors import Blocked, InputError
from recallbench.retrieval.at_once import Attempt

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Work:
    """What a question waits for: a call of the stage with this name."""

    stage: str
    call: Callable[[], Any]


Way = Generator[Work, Any, T]
"""The way of a question: it hands out what it waits for, and is sent what came of it."""
CarryOut = Callable[[str, Sequence[Callable[[], Any]]], Iterable[Attempt[Any]]]
"""Gives the outcomes of calls of one stage, in their order."""


def in_step(ways: Sequence[Way[T]], carry_out: CarryOut) -> list[Attempt[T]]:
    """Return what came of each way, with the seconds that it waited; what is no failure of a question is raised."""
    ends: dict[int, Attempt[T]] = {}
    seconds = dict.fromkeys(range(len(ways)), 0.0)
    sent: list[tuple[int, Attempt[Any] | None]] = [(place, None) for place in seconds]
    while sent:
        waiting: dict[str, list[tuple[int, Work]]] = {}
        for place, attempt in sent:
            try:
                if attempt is None:
                    work = next(ways[place])
                elif attempt.error is not None:
                    work = ways[place].throw(attempt.error)
                else:
                    work = ways[place].send(attempt.value)
            except StopIteration as end:
                ends[place] = Attempt(end.value, None, seconds[place])
            except (InputError, Blocked) as error:
                ends[place] = Attempt(None, error, seconds[place])
            else:
                waiting.setdefault(work.stage, []).append((place, work))
        sent = []
        for stage, works in waiting.items():
            outcomes = carry_out(stage, [work.call for _, work in works])
            for (place, _), attempt in zip(works, outcomes, strict=True):
                seconds[place] += attempt.seconds
                sent.append((place, attempt))
    return [ends[place] for place in range(len(ways))]
