"""Estimates: a mean with its interval, chance and ceiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.editions import CURRENT, Edition
from recallbench.scoring.intervals import cluster_codes
from recallbench.scoring.judgement import Bools, Floats, Ints, Judged, reaching
from recallbench.scoring.measures.measure import Measure


@dataclass(frozen=True, slots=True)
class Estimate:
    """One measure over one set of questions."""

    measure: Measure
    value: float | None
    """None when no question could be counted."""
    n: int
    """Questions counted: those with gold, or those of them that the measure counts."""
    low: float | None
    high: float | None
    method: str
    """The method of the interval, or why there is none."""
    chance: float | None
    ceiling: float | None
    saturated: float | None
    """The share of questions whose haystack has no more than k segments."""
    design_effect: float | None
    left_out: int = 0
    """Questions of the set that are not in n."""


def estimate(measure: Measure, judged: Judged, clusters: Sequence[str] | None = None) -> Estimate:
    """Return the measure over all judged questions; `clusters` has the cluster of each ("" is independent)."""
    return estimates((measure,), judged, clusters, {"all": np.ones(len(judged), dtype=np.bool_)})["all"][0]


def estimates(
    measures: Sequence[Measure],
    judged: Judged | Sequence[Judged],
    clusters: Sequence[str] | None,
    slices: Mapping[str, Bools],
    edition: Edition = CURRENT,
) -> dict[str, tuple[Estimate, ...]]:
    """Return each measure over each slice, a mask over the questions.

    Several judgements of the same questions may be given, one per call depth: a measure is taken from the shallowest
    that reaches its depth, so that recall@10 comes from the call with k = 10 and MRR from the one with k = 50
    (clarification 15).
    """
    calls = [judged] if isinstance(judged, Judged) else sorted(judged, key=lambda call: call.depth)
    first = calls[0]
    for call in calls[1:]:
        if not np.array_equal(call.gold, first.gold) or not np.array_equal(call.candidates, first.candidates):
            raise ValueError("the judgements are not of the same questions")
    codes = None
    if clusters is not None:
        if len(clusters) != len(first):
            raise ValueError(f"{len(clusters)} clusters for {len(first)} questions")
        codes = cluster_codes(clusters)
    columns = [_Column.of(measure, reaching(calls, measure.k)) for measure in measures]
    return {name: _slice(columns, np.asarray(mask, dtype=np.bool_), codes, edition) for name, mask in slices.items()}


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """The values of a measure by question, computed once for all slices."""

    measure: Measure
    judged: Judged
    values: Floats
    chance: Floats
    ceiling: Floats

    @staticmethod
    def of(measure: Measure, judged: Judged) -> _Column:
        return _Column(measure, judged, measure.values(judged), measure.chance(judged), measure.ceiling(judged))

    def cut(self, mask: Bools, judged: Judged) -> _Column:
        """Return the column of the questions in the mask; `judged` holds only these."""
        if self.measure.separable:
            return _Column(self.measure, judged, self.values[mask], self.chance[mask], self.ceiling[mask])
        return _Column.of(self.measure, judged)


def _slice(columns: Sequence[_Column], mask: Bools, codes: Ints | None, edition: Edition) -> tuple[Estimate, ...]:
    if not columns:
        return ()
    counts = [column.measure.counted(column.judged) for column in columns]
    if any(not np.array_equal(count, counts[0]) for count in counts[1:]):
        # Columns are only resampled together over the same questions.
        alone = [_slice([column], mask, codes, edition)[0] for column in columns]
        return tuple(alone)
    counted = mask & counts[0]
    n, left_out = int(counted.sum()), int(mask.sum()) - int(counted.sum())
    # Most columns share a judgement, which is then cut only once.
    judgements = {id(column.judged): column.judged for column in columns}
    chosen = {key: judged.select(counted) for key, judged in judgements.items()}
    cut = [column.cut(counted, chosen[id(column.judged)]) for column in columns]
    values = np.column_stack([column.values for column in cut])
    bounds = edition.means(values, [c.measure.binary for c in cut], None if codes is None else codes[counted])
    return tuple(
        Estimate(
            column.measure,
            _mean(column.values),
            n,
            bound.low,
            bound.high,
            bound.method,
            _mean(column.chance),
            _mean(column.ceiling),
            _mean(column.measure.saturated(column.judged)),
            bound.design_effect,
            left_out,
        )
        for column, bound in zip(cut, bounds, strict=True)
    )


def _mean(values: Floats | Bools) -> float | None:
    return float(values.mean()) if len(values) else None
