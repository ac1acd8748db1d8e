"""What a group's results find against what they cost: the front and the knee, and who can't be told from the best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.choice.best_set import BestSet, best_set
from recallbench.scoring.choice.front import front
from recallbench.scoring.choice.knee import Knee, knee
from recallbench.scoring.judgement import Floats
from recallbench.scoring.measures.measure import Measure
from recallbench.site.board import Group
from recallbench.site.entry import Entry


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The results of a group that have a price of one kind."""

    label: str
    """What the price is."""
    gate: str
    """The name by which a gate limits it."""
    unit: str
    entries: tuple[Entry, ...]
    prices: tuple[float, ...]
    front: tuple[int, ...]
    """Places of those that no other beats, the cheapest first."""
    shares: tuple[float, ...]
    """Of every entry, the share of resamples in which it is on the front."""
    knee: Knee | None
    """None where fewer than three have a price."""
    left_out: tuple[str, ...]
    """Why others are not on it, a sentence each."""


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """Who leads a group, and at what price."""

    best: BestSet | None
    """By place in the group; None where there is nothing to tell apart."""
    curves: tuple[Curve, ...]

    def is_among_best(self, place: int) -> bool:
        """Return whether the entry at a place can't be told from the best."""
        return self.best is not None and place in self.best.points

    def fronts(self, entry: Entry) -> str:
        """Return the fronts that an entry is on, with its share of resamples; empty where it is on none."""
        told = []
        for curve in self.curves:
            if entry in curve.entries and (place := curve.entries.index(entry)) in curve.front:
                told.append(f"{curve.gate} ({curve.shares[place]:.0%})")
        return ", ".join(told)


def standing_of(group: Group, measure: Measure, currency: str) -> Standing:
    """Return the standing of a group's audited results by the measure that decides."""
    if not measure.separable or len(group.entries) < 2:
        return Standing(None, ())
    counted = group.base.rankings.counted(measure)
    clusters: list[str] | None = [group.base.rankings.clusters[i] for i in np.flatnonzero(counted)]
    if clusters is not None and not any(clusters):
        clusters = None
    if not counted.any():
        return Standing(None, ())
    values = np.vstack([entry.rankings.values(measure)[counted] for entry in group.entries])
    found = best_set(values, clusters)
    timed, elsewhere = _on_one_machine(group.entries)
    priced = [place for place, entry in enumerate(group.entries) if _above_zero(entry.usd_per_1000)]
    times = [entry.p95_ms for entry in group.entries]
    money = [entry.usd_per_1000 for entry in group.entries]
    curves = [
        _curve("p95 of a single warm query, ms", "p95", "ms", group.entries, times, timed, values, clusters, elsewhere),
        _curve(
            f"{currency} for 1,000 questions",
            "usd_per_1000",
            currency,
            group.entries,
            money,
            priced,
            values,
            clusters,
            _unpriced(group.entries),
        ),
    ]
    return Standing(found, tuple(curve for curve in curves if curve is not None))


def _curve(
    label: str,
    gate: str,
    unit: str,
    entries: Sequence[Entry],
    prices: Sequence[float | None],
    places: Sequence[int],
    values: Floats,
    clusters: Sequence[str] | None,
    left_out: Sequence[str],
) -> Curve | None:
    paid = [price for place in places if (price := prices[place]) is not None]
    if len(places) < 2:
        return None
    chosen = values[list(places)]
    found = front(chosen, [paid], clusters)
    bend = knee(chosen, paid, clusters) if len(places) > 2 else None
    shown = tuple(entries[place] for place in places)
    return Curve(label, gate, unit, shown, tuple(paid), found.points, found.shares, bend, tuple(left_out))


def _on_one_machine(entries: Sequence[Entry]) -> tuple[list[int], list[str]]:
    """Return the places of the entries whose times compare: those taken on the machine that most were taken on."""
    timed = [place for place, entry in enumerate(entries) if _above_zero(entry.p95_ms)]
    machines = Counter(entries[place].hardware for place in timed if entries[place].hardware)
    if not machines:
        return [], _counted(len(timed), "have times but do not say what they were taken on: not drawn against p95.")
    usual = min(machines, key=lambda machine: (-machines[machine], machine))
    chosen = [place for place in timed if entries[place].hardware == usual]
    others, untimed = len(timed) - len(chosen), len(entries) - len(timed)
    told = _counted(others, f"were timed elsewhere than on {', '.join(usual)}: not drawn against p95.")
    return chosen, [*told, *_counted(untimed, "have no times of single warm queries.")]


def _unpriced(entries: Sequence[Entry]) -> list[str]:
    without = [entry for entry in entries if not _above_zero(entry.usd_per_1000)]
    lacking = list(dict.fromkeys(entry.unpriced for entry in without if entry.unpriced))
    why = f": {'; '.join(lacking[:3])}" if lacking else ""
    return _counted(len(without), f"used what has no price, or was not counted, and are not drawn against cost{why}.")


def _counted(count: int, words: str) -> list[str]:
    return [f"{count} of the results {words}"] if count else []


def _above_zero(price: float | None) -> bool:
    return price is not None and price > 0
