"""A race: points are dropped on the way once they are told from the best, with one error for all looks and points.

What is compared is the distance between two points' sums over the clusters: with the largest distance between any two
points under the same random signs of the clusters (Tukey's range test, by sign flips). A cluster's differences keep
their sign through the whole race, so a sign flip is a race of its own, and over all looks together no more than the
share `error` of these races may drop a point. It is spent in proportion to the questions asked. Once points are
dropped, the others are compared as if those had never run.

So with probability 1 - error no point that is as good as the best is dropped, if a cluster's differences between
equally good points are as likely the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.choice.points import ERROR, Support, question_units, sums_by_group, support
from recallbench.scoring.intervals import SEED
from recallbench.scoring.judgement import Bools, Floats, Ints
from recallbench.scoring.sign_flips import flip_count, flipped_sums, flips_method

LOOKS = 10
_EQUAL = 1e-9
"""Sums that are equal on paper differ by less."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A point that is worse than the best, at the look that found it so."""

    point: int
    look: int
    """From 1."""
    asked: int
    """The questions that it was asked."""
    leader: int
    """The point with the highest mean at that look, of those that it was compared with."""
    difference: float
    """Its mean less the leader's, over the questions asked."""
    upper: float
    """The upper bound of that difference, below 0; with a margin below -margin."""


@dataclass(frozen=True, slots=True)
class Raced:
    """What a race leaves: the points that can't be told from the best."""

    alive: tuple[int, ...]
    """Best first."""
    dropped: tuple[Dropped, ...]
    """In the order of dropping."""
    looks: int
    asked: int
    """Values that were asked for: points times questions, but for the dropped."""
    saved: int
    """Values that were not."""
    told_apart: float | None
    """At the last look, what a point had to lie below the best to be told from it; None where none could be."""
    confidence: float
    """With it, no point that is as good as the best was dropped at any look."""
    margin: float
    support: Support
    method: str


class Race:
    """Drops points block by block. Ask each block of questions of the points alive, and `add` their values."""

    def __init__(
        self,
        points: int,
        questions: int,
        clusters: Sequence[str] | None = None,
        *,
        looks: int = LOOKS,
        error: float = ERROR,
        margin: float = 0.0,
    ) -> None:
        """`margin` is how far below the best a point may lie and still be of use: such points stay in the race."""
        self._groups, unit = question_units(questions, clusters)
        self._units = int(self._groups.max()) + 1
        self.blocks = race_blocks(self._groups, looks)
        self._support = support(self._units, unit, error)
        self._error, self._margin = error, margin
        # Whole flips in all, of which the last look has one at least: the values of all questions are never idle.
        self._allowed = int(error * flip_count(self._units, mirrored=False) + 1e-9)
        self._values = np.zeros((points, questions))
        self._alive: list[int] = list(range(points))
        self._sums: list[Floats] = []
        self._columns: list[list[int]] = []
        self._dropped: list[Dropped] = []
        self._asked = 0
        self._told_apart: float | None = None

    @property
    def alive(self) -> tuple[int, ...]:
        """Return the points to ask the next block of, in their own order."""
        return tuple(self._alive)

    def add(self, values: Floats, prices: Floats | None = None) -> tuple[Dropped, ...]:
        """Take the values (points alive x questions) of the next block; return the points that drop out.

        With `prices` (prices x points alive; less is better) a point drops out only if one that is as cheap in each is
        better: so what may lie on the front stays in the race.
        """
        block = self.blocks[len(self._sums)]
        if values.shape != (len(self._alive), len(block)) or not np.isfinite(values).all():
            raise ValueError(f"{values.shape} are not the values of {len(self._alive)} points, {len(block)} questions")
        self._values[np.array(self._alive)[:, None], block] = values
        self._asked += values.size
        totals = sums_by_group(self._values[self._alive], self._groups)
        self._sums.append(flipped_sums(totals, mirrored=False))
        self._columns.append(list(self._alive))
        paid = np.zeros((1, len(self._alive))) if prices is None else prices
        if paid.ndim != 2 or paid.shape[1] != len(self._alive):
            raise ValueError(f"prices of {paid.shape} are not one or several for each of {len(self._alive)} points")
        as_cheap = np.asarray((paid[:, None, :] <= paid[:, :, None]).all(axis=0))
        before = len(self._dropped)
        while len(self._alive) > 1 and self._drop(as_cheap):
            pass
        return tuple(self._dropped[before:])

    def raced(self) -> Raced:
        """Return the outcome so far."""
        seen = self._seen()
        order = sorted(self._alive, key=lambda point: (-seen[point], point))
        whole = self._values.size
        return Raced(
            alive=tuple(order),
            dropped=tuple(self._dropped),
            looks=len(self._sums),
            asked=self._asked,
            saved=whole - self._asked,
            told_apart=self._told_apart,
            confidence=1 - self._error,
            margin=self._margin,
            support=self._support,
            method=(
                f"range of all points under {flips_method(self._units)} of {self._units:,} {self._support.unit}s, "
                f"error spent over {len(self.blocks)} look{'' if len(self.blocks) == 1 else 's'}"
            ),
        )

    def _seen(self) -> dict[int, float]:
        """Return the sums of the points alive as they were seen."""
        if not self._sums:
            return dict.fromkeys(self._alive, 0.0)
        return dict(zip(self._columns[-1], self._sums[-1][0].tolist(), strict=True))

    def _drop(self, as_cheap: Bools) -> bool:
        """Drop the points that lie too far below the best that costs no more; return whether there were any.

        `as_cheap` says, of two points asked the last block, whether the second costs no more than the first.
        """
        asked = sum(len(block) for block in self.blocks[: len(self._sums)])
        bound = self._bound()
        self._told_apart = None if bound is None else bound / asked + self._margin
        if bound is None:
            return False
        places = [self._columns[-1].index(point) for point in self._alive]
        seen = self._sums[-1][0, places]
        others = np.where(as_cheap[np.ix_(places, places)], seen, -np.inf)
        leaders = others.argmax(axis=1)
        differences = seen - seen[leaders]
        out = np.flatnonzero(-differences > bound + self._margin * asked + _EQUAL).tolist()
        self._dropped += [
            Dropped(
                point=self._alive[place],
                look=len(self._sums),
                asked=asked,
                leader=self._alive[leaders[place]],
                difference=float(differences[place]) / asked,
                upper=float(differences[place] + bound) / asked,
            )
            for place in out
        ]
        self._alive = [point for place, point in enumerate(self._alive) if place not in out]
        return bool(out)

    def _bound(self) -> float | None:
        """Return the distance that chance exceeds too rarely at this look; None where it can't be so rare."""
        flips = len(self._sums[0])
        crossed: Bools = np.zeros(flips, dtype=np.bool_)
        asked, bound = 0, None
        for block, sums, columns in zip(self.blocks, self._sums, self._columns, strict=False):
            asked += len(block)
            places = [columns.index(point) for point in self._alive]
            ranges = np.ptp(sums[:, places], axis=1)
            spend = int(self._allowed * asked / self._values.shape[1] + 1e-9) - int(crossed.sum())
            bound = None
            if spend > 0:
                left = np.sort(ranges[~crossed])[::-1]
                bound = float(left[spend]) if spend < len(left) else 0.0
                crossed |= ranges > bound + _EQUAL
        return bound


def race_blocks(groups: Ints, looks: int) -> tuple[Ints, ...]:
    """Return the questions of each look: an equal part of every cluster, in an order drawn by the seed.

    So all clusters speak at each look. Independent questions are dealt out at random.
    """
    draw = np.random.default_rng(SEED)
    shuffled = draw.permutation(len(groups))
    by_group = shuffled[np.argsort(groups[shuffled], kind="stable")]
    # Dealt out like cards, cluster after cluster: a look's number goes on from one cluster to the next.
    looks = max(1, min(looks, len(groups)))
    turn = np.arange(len(groups)) % looks
    return tuple(np.sort(by_group[turn == look]) for look in range(looks))


def race(
    values: Floats,
    clusters: Sequence[str] | None = None,
    *,
    looks: int = LOOKS,
    error: float = ERROR,
    margin: float = 0.0,
) -> Raced:
    """Run the race over values (points x questions) that are known already; a dropped point's later ones are unread."""
    going = Race(len(values), values.shape[1], clusters, looks=looks, error=error, margin=margin)
    for block in going.blocks:
        going.add(values[np.array(going.alive)[:, None], block])
        if len(going.alive) == 1:
            break
    return going.raced()
