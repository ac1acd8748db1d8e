"""The points around the chosen one, measured: how far quality and latency move with each step of each parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from recallbench.errors import UsageError
from recallbench.results.figures import rounded
from recallbench.results.sweep.sensitivity_part import SensitivityPart, StepPart
from recallbench.scoring.calls import clusters_of
from recallbench.scoring.choice.sensitivity import (
    Sensitivity,
    SensitivityDesign,
    sensitivities,
    sensitivity_design,
)
from recallbench.scoring.judgement import Floats
from recallbench.studies.sweep.choosing import SHARES, latency
from recallbench.studies.sweep.measuring import Measuring, PointOutcome
from recallbench.studies.sweep.points import Settle, SweepPoint

Levels = Mapping[str, Sequence[str]]


def design_around(levels: Levels, chosen: Mapping[str, str]) -> SensitivityDesign:
    """Return the points to measure around the chosen one."""
    places = [list(values).index(chosen[name]) for name, values in levels.items()]
    return sensitivity_design([len(values) for values in levels.values()], places)


def measure_around(
    measuring: Measuring, chosen: SweepPoint, levels: Levels, settle: Settle, places: Sequence[int]
) -> tuple[SensitivityPart, list[PointOutcome]]:
    """Ask the points around the chosen one the questions at these places; what is kept is not asked again."""
    design = design_around(levels, chosen.parameters)
    points, failures, impossible = dict[int, SweepPoint](), dict[str, str](), dict[str, str]()
    for number, setting in enumerate(design.settings):
        changed = {name: values[level] for (name, values), level in zip(levels.items(), setting, strict=True)}
        try:
            points[number] = settle(f"{chosen.name} with {_told(changed)}", {**chosen.parameters, **changed})
        except UsageError as error:
            impossible[_told(changed)] = error.problem
    outcomes = measuring.join(list(points.values()))
    measuring.ask_each(outcomes, places, f"around {chosen.name}")
    values = np.full((len(design.settings), len(places)), np.nan)
    times = np.full((len(design.settings), 1), np.nan)
    for number, outcome in zip(points, outcomes, strict=True):
        if outcome.failure:
            failures[_told({name: outcome.point.parameters[name] for name in levels})] = outcome.failure
            continue
        values[number] = outcome.values(measuring.questions, places)
        p95 = latency(outcome, SHARES["p95"])
        times[number] = np.nan if p95 is None else p95
    part = SensitivityPart(
        around=chosen.name,
        design=design.method,
        questions=len(places),
        levels={name: list(of) for name, of in levels.items()},
        points=len(design.settings),
        failures=failures,
        impossible=impossible,
        steps=_steps(design, levels, values, times, clusters_of(measuring.questions.at(places))),
    )
    return rounded(part), outcomes


def _steps(
    design: SensitivityDesign, levels: Levels, values: Floats, times: Floats, clusters: Sequence[str] | None
) -> list[StepPart]:
    names = list(levels)
    moved, slowed = sensitivities(design, values, clusters), sensitivities(design, times)
    return [
        _step(of_value, of_time, names[of_value.parameter], levels[names[of_value.parameter]])
        for of_value, of_time in zip(moved, slowed, strict=True)
    ]


def _step(of_value: Sensitivity, of_time: Sensitivity, name: str, values: Sequence[str]) -> StepPart:
    start = of_value.start
    return StepPart(
        parameter=name,
        start=None if start is None else values[start],
        end=None if start is None else values[start + 1],
        moves=of_value.moves,
        lost=of_value.failed,
        mean=of_value.mean,
        low=of_value.bounds.low,
        high=of_value.bounds.high,
        interval=of_value.bounds.method,
        absolute=of_value.absolute,
        deviation=of_value.deviation,
        least=of_value.least,
        most=of_value.most,
        p95_ms=of_time.mean,
        p95_least=of_time.least,
        p95_most=of_time.most,
    )


def _told(changed: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in changed.items())
