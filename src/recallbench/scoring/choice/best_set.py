"""The points that can't be told from the best, and the cheapest of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recallbench.scoring.choice.points import ERROR, Support
from recallbench.scoring.choice.race import Raced, race
from recallbench.scoring.judgement import Floats


@dataclass(frozen=True, slots=True)
class BestSet:
    """The points that can't be told from the best."""

    points: tuple[int, ...]
    """Best first. It is a choice that luck may have made where it is the only one of many; the confidence says how."""
    means: tuple[float, ...]
    """Of these points."""
    cheapest: int | None
    """The member that costs least, the better one of two that cost the same; None without costs."""
    told_apart: float | None
    """What a point had to lie below the best to be told from it; None where no difference could be."""
    confidence: float
    """With it, every point that is as good as the best is in the set."""
    support: Support
    method: str
    among: int
    """The points that it was chosen from."""

    @property
    def description(self) -> str:
        """Return the set as a sentence without its stop."""
        if self.among == 1:
            return "there was only one point to choose, so that nothing was compared"
        if len(self.points) == 1:
            return f"one point is better than all others (confidence {self.confidence:.0%})"
        if self.told_apart is None:
            return f"no two of {len(self.points)} points could be told apart: {self.support.description}"
        return (
            f"{len(self.points)} points can't be told from the best (confidence {self.confidence:.0%}): "
            f"one that lies {self.told_apart:.4f} or more below it would have been told from it"
        )


def best_set(
    values: Floats,
    clusters: Sequence[str] | None = None,
    costs: Sequence[float | None] | None = None,
    *,
    error: float = ERROR,
) -> BestSet:
    """Return the set for values (points x questions), all of which were asked: a race with one look."""
    return raced_set(race(values, clusters, looks=1, error=error), values, costs)


def raced_set(raced: Raced, values: Floats, costs: Sequence[float | None] | None = None) -> BestSet:
    """Return the set that a race leaves: its error holds for race and set together, so none is added.

    Of `values` (points x questions) the rows of the points alive are read.
    """
    means = tuple(float(values[point].mean()) for point in raced.alive)
    return BestSet(
        points=raced.alive,
        means=means,
        cheapest=cheapest(raced.alive, costs),
        told_apart=raced.told_apart,
        confidence=raced.confidence,
        support=raced.support,
        method=raced.method,
        among=len(raced.alive) + len(raced.dropped),
    )


def cheapest(points: Sequence[int], costs: Sequence[float | None] | None) -> int | None:
    """Return the point, given best first, with the least cost that is known; None where none is."""
    known = [(cost, place) for place, point in enumerate(points) if costs and (cost := costs[point]) is not None]
    return points[min(known)[1]] if known else None
