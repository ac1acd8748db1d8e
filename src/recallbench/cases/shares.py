"""What hybrid matching took by which of its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recallbench.corpora.matching.method import Matching, Step

Steps = Sequence[Step | None]
"""Of one case, hit by hit: what it matched by."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one step of hybrid matching found."""

    step: Step
    cases: int
    """Whose first match in the top k is by it."""
    share: float
    """Of the cases with something to find."""
    hits: int
    """In the top k that match by it."""


def shares(steps: Sequence[Steps], matching: Matching, k: int, counted: int) -> list[Share]:
    """Return every step of the method, in its order; `counted` cases have something to find."""
    first = [next((step for step in one[:k] if step is not None), None) for one in steps]
    return [
        Share(
            step,
            first.count(step),
            first.count(step) / counted if counted else 0.0,
            sum(list(one[:k]).count(step) for one in steps),
        )
        for step in matching.steps
    ]
