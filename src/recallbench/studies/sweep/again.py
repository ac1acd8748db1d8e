"""Points asked again and again, each time from a store that is filled anew: what of their figures is chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recallbench.errors import RecallBenchError
from recallbench.progress import Progress
from recallbench.results.figures import rounded
from recallbench.results.sweep.stability_part import RepeatedFigurePart, StabilityPart
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.retrieval.stages.registry import options_of
from recallbench.scoring.choice.stability import stability
from recallbench.studies.sweep.choosing import SHARES, latency
from recallbench.studies.sweep.measuring import Measuring, PointOutcome
from recallbench.studies.sweep.points import SweepPoint

SEED = "seed"
"""The option by which a stage is given a seed."""
TIMES = ("p50", "p95")


def measure_again(
    measuring: Measuring,
    points: Sequence[SweepPoint],
    places: Sequence[int],
    seeds: int,
    repeats: int,
    progress: Progress,
) -> StabilityPart:
    """Ask each point all questions, so many times with each seed; figures are of the questions at these places.

    The points take turns, so that what slows the machine for a while slows all of them.
    """
    runs: dict[str, list[list[PointOutcome]]] = {point.name: [[] for _ in range(seeds)] for point in points}
    failures = []
    everything = range(measuring.question_count)
    with progress.stage("asked again", seeds * repeats * len(points), "runs") as advance:
        for number in range(seeds * repeats):
            seed = number % seeds
            for point in points:
                try:
                    answers = measuring.ask_fresh(_seeded(point, seed + 1), seed + 1, everything)
                    runs[point.name][seed].append(PointOutcome(point, answers=answers))
                except RecallBenchError as error:
                    failures.append(f"{point.name}, seed {seed + 1}: {error.brief}")
                advance(1)
    spreads = [
        spread
        for point in points
        for spread in _spreads(measuring, point, [run for run in runs[point.name] if run], places)
    ]
    part: StabilityPart = rounded(
        StabilityPart(
            repeats=repeats,
            seeds=seeds,
            seeded={point.name: _seeded_stages(point) for point in points},
            questions=len(places),
            spreads=spreads,
            failures=failures,
        )
    )
    return part


def _spreads(
    measuring: Measuring, point: SweepPoint, runs: Sequence[Sequence[PointOutcome]], places: Sequence[int]
) -> list[RepeatedFigurePart]:
    if not runs:
        return []
    found = [[float(run.values(measuring.questions, places).mean()) for run in of_seed] for of_seed in runs]
    spreads = [_spread(point.name, str(point.measure), found)]
    for name in TIMES:
        times = [[latency(run, SHARES[name]) for run in of_seed] for of_seed in runs]
        if all(time is not None for of_seed in times for time in of_seed):
            spreads.append(_spread(point.name, f"{name} ms", [[time or 0.0 for time in each] for each in times]))
    return spreads


def _spread(point: str, figure: str, runs: list[list[float]]) -> RepeatedFigurePart:
    found = stability(runs)
    return RepeatedFigurePart(
        point=point,
        figure=figure,
        runs=runs,
        mean=found.mean,
        over_repeats=found.over_repeats,
        over_seeds=found.over_seeds,
        least=found.least,
        most=found.most,
    )


def _seeded_stages(point: SweepPoint) -> list[str]:
    """Return the stages of a point that are given a seed."""
    return [
        spec.name
        for spec in point.plan.pipeline or ()
        if any(option.name == SEED for option in options_of(spec.kind, spec.method))
    ]


def _seeded(point: SweepPoint, seed: int) -> SweepPoint:
    """Return the point with this seed in every stage that has one."""
    pipeline, names = point.plan.pipeline, _seeded_stages(point)
    if pipeline is None or not names:
        return point
    stages = [
        {
            "kind": spec.kind,
            "method": spec.method,
            "name": spec.name,
            **spec.options,
            **({SEED: str(seed)} if spec.name in names else {}),
        }
        for spec in pipeline
    ]
    return replace(point, plan=replace(point.plan, pipeline=Pipeline.of(stages, pipeline.source)))
