"""How far a measure moves per step of each parameter around a chosen point.

Up to four parameters have a full factorial: every combination of the chosen level and its neighbours, so that a step is
seen under all settings of the others. More have Morris's elementary effects: walks through those combinations, each of
which moves every parameter once, by one step, in an order that is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from recallbench.scoring.choice.points import question_units, sums_by_group
from recallbench.scoring.intervals import SEED, Interval
from recallbench.scoring.judgement import Floats
from recallbench.scoring.sign_flips import mean_intervals

FACTORIAL = 4
"""The most parameters with a full factorial: of three levels each, 81 points."""
WALKS = 10


@dataclass(frozen=True, slots=True)
class Move:
    """Two settings that differ by one step up of one parameter."""

    parameter: int
    start: int
    """The level before the step; the one after is the next."""
    before: int
    """The place of the setting among those of the design."""
    after: int


@dataclass(frozen=True, slots=True)
class SensitivityDesign:
    """The points to measure around a chosen one."""

    settings: tuple[tuple[int, ...], ...]
    """The level of each parameter, no setting twice; the chosen one is first."""
    moves: tuple[Move, ...]
    factorial: bool
    """Every combination; else the walks of Morris."""
    method: str


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How far a measure moves with one step up of a parameter."""

    parameter: int
    start: int | None
    """The level that the step starts from; None where steps from several levels are taken together (Morris)."""
    mean: float | None
    """Over all moves; None where none could be measured. Morris calls it mu."""
    bounds: Interval
    """Of the mean, over clusters; for this step alone, uncorrected for the number of steps."""
    absolute: float | None
    """The mean without signs (Morris's mu*): large beside a small mean where the other parameters turn the effect."""
    deviation: float | None
    """The standard deviation over moves (Morris's sigma): 0 where the others do not matter; None with one move."""
    least: float | None
    most: float | None
    moves: int
    """How many moves were measured."""
    failed: int
    """Moves that are missing since a point failed."""


def sensitivity_design(
    levels: Sequence[int], chosen: Sequence[int], *, walks: int = WALKS, seed: int = SEED
) -> SensitivityDesign:
    """Return the settings around the chosen one, where parameter p has `levels[p]` levels in their order.

    A parameter with one level is left as it is, and doesn't count.
    """
    if len(levels) != len(chosen) or not all(0 <= at < n for at, n in zip(chosen, levels, strict=True)):
        raise ValueError(f"{tuple(chosen)} is not among {tuple(levels)} levels")
    near = [range(max(0, at - 1), min(n, at + 2)) for at, n in zip(chosen, levels, strict=True)]
    moving = [parameter for parameter, there in enumerate(near) if len(there) > 1]
    settings = {tuple(chosen): 0}
    moves: dict[Move, None] = {}

    def move(before: tuple[int, ...], parameter: int) -> None:
        after = (*before[:parameter], before[parameter] + 1, *before[parameter + 1 :])
        places = [settings.setdefault(setting, len(settings)) for setting in (before, after)]
        moves[Move(parameter, before[parameter], *places)] = None

    if len(moving) <= FACTORIAL:
        for setting in product(*near):
            for parameter in moving:
                if setting[parameter] + 1 in near[parameter]:
                    move(setting, parameter)
        return SensitivityDesign(tuple(settings), tuple(moves), True, f"full factorial of {len(settings):,} points")
    draw = np.random.default_rng(seed)
    for _ in range(walks):
        at = tuple(int(draw.choice(there)) for there in near)
        for parameter in draw.permutation(moving).tolist():
            steps = [step for step in (-1, 1) if at[parameter] + step in near[parameter]]
            step = int(draw.choice(steps))
            following = (*at[:parameter], at[parameter] + step, *at[parameter + 1 :])
            move(min(at, following), parameter)
            at = following
    return SensitivityDesign(
        tuple(settings), tuple(moves), False, f"Morris, {walks} walks over {len(settings):,} points, seed {seed}"
    )


def sensitivities(
    design: SensitivityDesign, values: Floats, clusters: Sequence[str] | None = None
) -> tuple[Sensitivity, ...]:
    """Return the effect of each parameter's steps on values (settings x questions), in the order of the design.

    A row of NaN is a point that failed. A figure of whole points, as a p95, is a column of its own: no bounds then.
    """
    if values.ndim != 2 or len(values) != len(design.settings):
        raise ValueError(f"{len(values)} rows for {len(design.settings)} settings")
    failed = np.isnan(values.sum(axis=1))
    together: dict[tuple[int, int | None], list[Move]] = {}
    for move in sorted(design.moves, key=lambda move: (move.parameter, move.start)):
        together.setdefault((move.parameter, move.start if design.factorial else None), []).append(move)
    groups, _ = question_units(values.shape[1], clusters)
    found = []
    for (parameter, start), moves in together.items():
        measured = [move for move in moves if not (failed[move.before] or failed[move.after])]
        lost = len(moves) - len(measured)
        if not measured:
            none = Interval(None, None, "n/a (every point failed)")
            found.append(Sensitivity(parameter, start, None, none, None, None, None, None, 0, lost))
            continue
        moved = np.stack([values[move.after] - values[move.before] for move in measured])
        means = moved.mean(axis=1)
        found.append(
            Sensitivity(
                parameter=parameter,
                start=start,
                mean=float(means.mean()),
                bounds=mean_intervals(sums_by_group(moved.mean(axis=0)[None], groups), np.bincount(groups))[0],
                absolute=float(np.abs(means).mean()),
                deviation=float(means.std(ddof=1)) if len(means) > 1 else None,
                least=float(means.min()),
                most=float(means.max()),
                moves=len(measured),
                failed=lost,
            )
        )
    return tuple(found)
