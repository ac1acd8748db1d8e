"""The strata of a log: their recalls, latencies, and labelled queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from recallbench.reports.log_scores import LatencyPart, MeanPart, SlicePart
from recallbench.scoring.intervals import Interval
from recallbench.scoring.judgement import Floats
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.quantiles import Rule, between, place
from recallbench.scoring.strata import Sampled, weighted_mean


@dataclass(slots=True)
class RecallTimes:
    """Milliseconds at four digits: so few different values occur that any log fits."""

    counts: Counter[float] = field(default_factory=Counter)

    def add(self, ms: float | None) -> None:
        """Count a recall; None stands for one that was not timed."""
        if ms is not None:
            self.counts[float(f"{ms:.4g}")] += 1

    def part(self, rule: Rule) -> LatencyPart:
        """Return p50 and p95 by a rule of percentiles."""
        n = self.counts.total()
        p50, p95 = (self._at(*place(n, share, rule)) if n else None for share in (0.5, 0.95))
        return LatencyPart(recalls=n, p50_ms=p50, p95_ms=p95, percentiles=rule)

    def _at(self, place: int, further: float) -> float:
        reached, ordered = 0, sorted(self.counts)
        for number, value in enumerate(ordered):
            reached += self.counts[value]
            if reached > place:
                last = reached == place + 1 and number + 1 < len(ordered)
                return between(value, ordered[number + 1] if last else value, further)
        raise ValueError(f"no place {place} among {reached} times")


@dataclass(slots=True)
class LogStratum:
    """The recalls of one kind."""

    recalls: int = 0
    times: RecallTimes = field(default_factory=RecallTimes)
    units: dict[str, LabelledUnit] = field(default_factory=dict)
    nothing_to_find: int = 0
    found_anyway: int = 0


@dataclass(slots=True)
class LabelledUnit:
    """A labelled query of a stratum."""

    values: Floats
    """The sum over the recalls that were judged, by measure."""
    counted: int = 0
    """Recalls that were judged."""
    logged: int = 0
    """Recalls whose label says what should be found, or that nothing should."""


def slice_part(name: str, strata: Sequence[LogStratum], measures: Sequence[Measure], percentiles: Rule) -> SlicePart:
    """Return the estimates of some strata together, with their percentiles."""
    labelled = [stratum for stratum in strata if stratum.units]
    times = RecallTimes(sum((stratum.times.counts for stratum in strata), Counter()))
    means = []
    for i, measure in enumerate(measures):
        value, bounds = weigh(strata, i)
        low, high = (None if bound is None else round(bound, 10) for bound in (bounds.low, bounds.high))
        means.append(MeanPart(measure=str(measure), value=value, low=low, high=high, method=bounds.method))
    units = [unit for stratum in labelled for unit in stratum.units.values()]
    return SlicePart(
        name=name,
        recalls=sum(stratum.recalls for stratum in strata),
        labelled_recalls=sum(unit.logged for unit in units),
        labelled_queries=len(units),
        answerable_queries=sum(unit.counted > 0 for unit in units),
        nothing_to_find=sum(stratum.nothing_to_find for stratum in strata),
        found_anyway=sum(stratum.found_anyway for stratum in strata),
        measures=means,
        latency=times.part(percentiles),
    )


def weigh(strata: Sequence[LogStratum], column: int) -> tuple[float | None, Interval]:
    """Return the mean of one column of values over some strata, each weighing as many recalls as it has."""
    return weighted_mean(
        [
            Sampled(
                stratum.recalls,
                np.array([unit.values[column] for unit in stratum.units.values()]),
                np.array([float(unit.counted) for unit in stratum.units.values()]),
                np.array([float(unit.logged) for unit in stratum.units.values()]),
            )
            for stratum in strata
            if stratum.units
        ]
    )
