"""The points around the chosen one, measured: how far quality and latency move with each step of each parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from recallbench.errors import UsageError
from recallbench.results.costs.prices import read_prices
from recallbench.results.figures import rounded
from recallbench.results.metrics import COMPARED
from recallbench.results.sweep.document import USD
from recallbench.results.sweep.sensitivity_part import SensitivityPart, StepPart
from recallbench.scoring.calls import clusters_of
from recallbench.scoring.choice.sensitivity import (
    Sensitivity,
    SensitivityDesign,
    sensitivities,
    sensitivity_design,
)
from recallbench.scoring.judgement import Floats, reaching
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import parse
from recallbench.studies.sweep.choosing import SHARES, latency
from recallbench.studies.sweep.costs import usd_per_1000
from recallbench.studies.sweep.measuring import Measuring, PointOutcome
from recallbench.studies.sweep.points import Settle, SweepPoint
from recallbench.studies.sweep.questions import SweepQuestions

Levels = Mapping[str, Sequence[str]]


def design_around(levels: Levels, chosen: Mapping[str, str]) -> SensitivityDesign:
    """Return the points to measure around the chosen one."""
    places = [list(values).index(chosen[name]) for name, values in levels.items()]
    return sensitivity_design([len(values) for values in levels.values()], places)


def settings_around(levels: Levels, chosen: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the parameters of each of them, the chosen one's first."""
    return [{**chosen, **_changed(levels, setting)} for setting in design_around(levels, chosen).settings]


def _changed(levels: Levels, setting: Sequence[int]) -> dict[str, str]:
    return {name: values[level] for (name, values), level in zip(levels.items(), setting, strict=True)}


def measure_around(
    measuring: Measuring, chosen: SweepPoint, levels: Levels, settle: Settle, places: Sequence[int]
) -> tuple[SensitivityPart, list[PointOutcome]]:
    """Ask the points around the chosen one the questions at these places; what is kept is not asked again."""
    design = design_around(levels, chosen.parameters)
    points, failures, impossible = dict[int, SweepPoint](), dict[str, str](), dict[str, str]()
    for number, setting in enumerate(design.settings):
        changed = _changed(levels, setting)
        try:
            points[number] = settle(f"{chosen.name} with {_told(changed)}", {**chosen.parameters, **changed})
        except UsageError as error:
            impossible[_told(changed)] = error.problem
    outcomes = measuring.join(list(points.values()))
    measuring.ask_each(outcomes, places, f"around {chosen.name}")
    questions, measured = measuring.questions, dict[int, PointOutcome]()
    for number, outcome in zip(points, outcomes, strict=True):
        if outcome.failure:
            failures[_told({name: outcome.point.parameters[name] for name in levels})] = outcome.failure
        else:
            measured[number] = outcome

    def rows(figures: Callable[[PointOutcome], Floats], width: int = 1) -> Floats:
        """Return a row of figures for each setting, of NaN where it failed or has none."""
        found = np.full((len(design.settings), width), np.nan)
        for number, outcome in measured.items():
            found[number] = figures(outcome)
        return found

    def others() -> Iterator[tuple[str, Floats]]:
        for measure in map(parse, COMPARED):
            if measure.k <= chosen.plan.options.depth and measure != chosen.measure:
                values_of = partial(_values_of, measure, questions=questions, places=places)
                yield str(measure), rows(values_of, len(places))
        yield "p50 ms", rows(lambda outcome: _single(latency(outcome, SHARES["p50"])))
        prices = read_prices()
        yield USD, rows(lambda outcome: _single(usd_per_1000(outcome, questions, prices)))

    values = rows(lambda outcome: outcome.values(questions, places), len(places))
    times = rows(lambda outcome: _single(latency(outcome, SHARES["p95"])))
    means = {name: [each.mean for each in sensitivities(design, figures)] for name, figures in others()}
    part = SensitivityPart(
        around=chosen.name,
        design=design.method,
        questions=len(places),
        levels={name: list(of) for name, of in levels.items()},
        points=len(design.settings),
        failures=failures,
        impossible=impossible,
        steps=_steps(design, levels, values, times, clusters_of(questions.at(places)), means),
    )
    return rounded(part), outcomes


def _steps(
    design: SensitivityDesign,
    levels: Levels,
    values: Floats,
    times: Floats,
    clusters: Sequence[str] | None,
    means: Mapping[str, Sequence[float | None]],
) -> list[StepPart]:
    names = list(levels)
    moved, slowed = sensitivities(design, values, clusters), sensitivities(design, times)
    return [
        _step(
            of_value,
            of_time,
            names[of_value.parameter],
            levels[names[of_value.parameter]],
            {name: each[place] for name, each in means.items()},
        )
        for place, (of_value, of_time) in enumerate(zip(moved, slowed, strict=True))
    ]


def _values_of(measure: Measure, outcome: PointOutcome, questions: SweepQuestions, places: Sequence[int]) -> Floats:
    return measure.values(reaching(outcome.judged(questions, places), measure.k))


def _single(value: float | None) -> Floats:
    return np.array([np.nan if value is None else value])


def _step(
    of_value: Sensitivity,
    of_time: Sensitivity,
    name: str,
    values: Sequence[str],
    others: dict[str, float | None],
) -> StepPart:
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
        others=others,
    )


def _told(changed: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in changed.items())
