"""What a user asks of a sweep beside its points."""

from __future__ import annotations

from dataclasses import dataclass

from recallbench.compare.rules import Requirement
from recallbench.scoring.measures.measure import Measure


@dataclass(frozen=True, slots=True)
class SweepChoices:
    """What a user asks of a sweep beside its points."""

    measure: Measure
    margin: float = 0.01
    requirements: tuple[Requirement, ...] = ()
    race: bool = True
    sensitivity: bool = False
    """Whether the points around the chosen one are measured too."""
    repeats: int = 0
    """How often the chosen point and the baseline are asked again, with each seed."""
    seeds: int = 0
    at_once: int = 1
    """Callers that ask a point at the same time, where its store allows several."""

    @property
    def again(self) -> tuple[int, int]:
        """How many seeds, and how many repeats with each; none of either where neither is wanted."""
        return (max(1, self.seeds), max(1, self.repeats)) if self.seeds or self.repeats else (0, 0)
