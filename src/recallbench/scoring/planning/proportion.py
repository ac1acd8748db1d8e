"""How far the strata of a draw are from the mix that they stand for, as they are drawn and as a record states them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recallbench.corpora.labelled_sets.canary_record import CanaryStratum
from recallbench.scoring.planning.mix_drift import total_variation

Cell = tuple[str, str, bool]
"""A kind, a tenant, and whether its questions are the hard ones."""

NEAR = 1e-4
"""Figures that are rounded where they are written are the same within this."""


@dataclass(frozen=True, slots=True)
class Proportion:
    """The strata of a draw beside production's mix."""

    bias: float
    """The most by which a plain mean over the questions may miss that of production's mix."""
    off: float
    """The questions that a kind and tenant, or the hard ones of all, have more or less than their share: the most."""
    hard: float
    """The share of hard questions among those drawn."""
    hard_in_production: float

    @property
    def proportional(self) -> bool:
        """Whether each kind and tenant is within a question of its share, and hard ones as frequent as in the set."""
        return self.off < 1


def proportion(production: Mapping[Cell, float], asked: Mapping[Cell, float], drawn: Mapping[Cell, int]) -> Proportion:
    """Compare the shares of production with the questions asked of each cell, on the average and in this draw."""
    shares, sizes = (_by_stratum(counts) for counts in (production, drawn))
    total = sum(drawn.values())
    hard = sum(count / sizes[cell[:2]] * shares[cell[:2]] for cell, count in asked.items() if cell[2] and count)
    there = sum(share for cell, share in production.items() if cell[2])
    off = max(abs(size - shares[stratum] * total) for stratum, size in sizes.items())
    return Proportion(
        total_variation(production, asked),
        max(off, abs(hard - there) * total),
        sum(count for cell, count in drawn.items() if cell[2]) / total,
        there,
    )


def stated_proportion(strata: Sequence[CanaryStratum]) -> Proportion:
    """Return the same by the strata of a record, to the places that it writes down."""
    cells = {(stratum.kind, stratum.tenant, stratum.hard): stratum for stratum in strata}
    raw = {cell: stratum.quota / stratum.weight if stratum.weight else 0.0 for cell, stratum in cells.items()}
    drawn = {cell: stratum.drawn for cell, stratum in cells.items()}
    sizes, totals = _by_stratum(drawn), _by_stratum(raw)
    asked = {cell: sizes[cell[:2]] * count / totals[cell[:2]] if count else 0.0 for cell, count in raw.items()}
    return proportion({cell: stratum.share for cell, stratum in cells.items()}, asked, drawn)


def _by_stratum(counts: Mapping[Cell, float]) -> dict[tuple[str, str], float]:
    summed: dict[tuple[str, str], float] = defaultdict(float)
    for cell, count in counts.items():
        summed[cell[:2]] += count
    return summed
