"""The shares of the steps of hybrid matching."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recallbench.corpora.matching.method import Matching, Step

Steps = Sequence[Step | None]
"""The step that each hit of one case matched by."""


@dataclass(frozen=True, slots=True)
class Share:
    """The matches of one step of hybrid matching."""

    step: Step
    cases: int
    """Cases whose first match in the top k is by this step."""
    share: float
    """Their share of the cases with something to find."""
    hits: int
    """Hits in the top k that match by this step."""


def shares(steps: Sequence[Steps], matching: Matching, k: int, counted: int) -> list[Share]:
    """Return every step of the method, in its order; `counted` cases have something to find."""
    first = [next((step for step in case_steps[:k] if step is not None), None) for case_steps in steps]
    return [
        Share(
            step,
            first.count(step),
            first.count(step) / counted if counted else 0.0,
            sum(list(case_steps[:k]).count(step) for case_steps in steps),
        )
        for step in matching.steps
    ]
