"""The points of a sweep: every combination, those that are listed, or some that are drawn."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from itertools import product

from recallbench.errors import UsageError
from recallbench.studies.sweep.file import ParameterRange, SweepFile

MOST_POINTS = 2000
"""More than anyone waits for, or than any corpus could tell apart."""
TRIES = 1000
"""Draws in vain after which there is no further point to be found."""


def draw_points(file: SweepFile) -> list[dict[str, str]]:
    """Return the parameters of each point, no two alike; raises UsageError where there are none, or too many."""
    if file.method == "list":
        points = [dict(point) for point in file.listed]
        _refuse_repeated(file, points)
    elif file.method == "grid":
        lists = {name: values for name, values in file.parameters.items() if not isinstance(values, ParameterRange)}
        _refuse_too_many(file, math.prod(map(len, lists.values())))
        points = [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]
    else:
        _refuse_too_many(file, file.draws)
        points = _drawn(file.parameters, file.draws, file.seed)
    _refuse_too_many(file, len(points))
    return points


def _drawn(parameters: Mapping[str, Sequence[str] | ParameterRange], draws: int, seed: int) -> list[dict[str, str]]:
    """Draw different points; fewer where there are not so many."""
    source, points = random.Random(seed), list[dict[str, str]]()
    in_vain = 0
    while len(points) < draws and in_vain < TRIES:
        point = {name: _value(values, source) for name, values in parameters.items()}
        if point in points:
            in_vain += 1
        else:
            points.append(point)
    return points


def _value(values: Sequence[str] | ParameterRange, source: random.Random) -> str:
    if not isinstance(values, ParameterRange):
        return values[source.randrange(len(values))]
    share = source.random()
    if values.whole:
        low, high = int(values.low), int(values.high)
        if values.scale == "linear":
            return str(low + math.floor(share * (high - low + 1)))
        return str(min(high, math.floor(low * ((high + 1) / low) ** share)))
    if values.scale == "log":
        return f"{values.low * (values.high / values.low) ** share:.6g}"
    return f"{values.low + share * (values.high - values.low):.6g}"


def _refuse_repeated(file: SweepFile, points: Sequence[Mapping[str, str]]) -> None:
    for place, point in enumerate(points):
        if point in points[:place]:
            first = points.index(point)
            raise UsageError(
                f"{file.name}: point {place + 1} is point {first + 1} again",
                expected="points that differ in some parameter",
                found=", ".join(f"{name} = {value}" for name, value in point.items()) or "no parameter",
            )


def _refuse_too_many(file: SweepFile, count: int) -> None:
    if count > MOST_POINTS:
        raise UsageError(
            f"{file.name} has {count:,} points",
            expected=f"at most {MOST_POINTS:,}",
            found=f"{count:,}",
            remedy='draw some of them: method = "random" with draws = 50',
        )
