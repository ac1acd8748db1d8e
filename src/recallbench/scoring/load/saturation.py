"""Saturation: the throughput that more clients do not raise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

ADDS = 0.10
"""What more clients must add."""
SATURATION_RULE = (
    "saturation: the throughput of the closed loop with the fewest clients to which the next level, as a rule with "
    f"twice as many, adds less than {ADDS:.0%}"
)


@dataclass(frozen=True, slots=True)
class Saturation:
    """The throughput at which a store is called saturated."""

    clients: int
    rate: float
    """Answers in a second."""
    reached: bool
    """Whether more clients were tried and added too little; else it is only the highest that was seen."""


def saturation(levels: Sequence[tuple[int, float]]) -> Saturation:
    """Return the saturation of closed loops, given as clients and throughput, fewest clients first."""
    for (clients, rate), (_, next_rate) in pairwise(levels):
        if (next_rate - rate) / rate < ADDS:
            return Saturation(clients, rate, reached=True)
    clients, rate = levels[-1]
    return Saturation(clients, rate, reached=False)
