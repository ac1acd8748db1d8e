"""A clock that only goes on when somebody waits, so that every latency of a simulated store is exact."""

from __future__ import annotations

from dataclasses import dataclass

from recallbench.retrieval.load.call import Ask
from recallbench.stores.store import Hit


@dataclass
class VirtualClock:
    time: float = 0.0

    def now(self) -> float:
        return self.time

    def wait_until(self, moment: float) -> None:
        self.time = max(self.time, moment)


def stalling(clock: VirtualClock, seconds: float, stall_at: int, stall: float) -> Ask:
    """A store that takes so long for each call, and stalls in one."""
    calls = 0

    def ask(question: int) -> list[Hit]:
        nonlocal calls
        clock.time += stall if calls == stall_at else seconds
        calls += 1
        return [Hit(question, 1.0)]

    return ask
