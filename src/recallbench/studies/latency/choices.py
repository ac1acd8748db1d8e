"""The choices of a latency study, beside the options of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from recallbench.retrieval.load.arrivals import Arrivals

MOST_CALLS = 10_000
"""The calls of one level at most, where nobody said how long it takes: each is kept, and a p99 needs no more."""
MOST_CALLS_IN_ANY_CASE = 100_000
MOST_CLIENTS = 64
"""Where a doubling of clients ends that adds enough each time."""


@dataclass(frozen=True, slots=True)
class LatencyChoices:
    """What is asked of one or two systems, and when."""

    clients: tuple[int, ...] = ()
    """The clients of each closed loop; empty for 1, 2, 4 … until more add too little."""
    arrivals: Arrivals = "poisson"
    shares: tuple[float, ...] = (0.5, 0.7, 0.9)
    """The rates of the open loops, as shares of the saturation."""
    rates: tuple[float, ...] = ()
    """More rates, in questions a second."""
    seconds: float = 5.0
    """Of each level, of each system."""
    most_calls: int = MOST_CALLS
    """A level with more calls than that is as much shorter."""
    seed: int = 42
    sizes: tuple[int, ...] = (1,)
    distractors: Path | None = None
    require_quiet: bool = False

    @property
    def grace(self) -> float:
        """Seconds behind a level in which those who wait are still served."""
        return max(1.0, self.seconds / 2)
