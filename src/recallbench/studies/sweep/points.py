"""The points of a sweep, each settled to a plan before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from recallbench.errors import UsageError
from recallbench.progress import Progress
from recallbench.results.sweep.document import BASELINE
from recallbench.runs.options import Options
from recallbench.runs.plan import Plan, plan_run
from recallbench.scoring.measures.measure import Measure
from recallbench.studies.sweep.drawing import draw_points
from recallbench.studies.sweep.file import SweepFile
from recallbench.studies.sweep.parameters import configure


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One configuration of a sweep."""

    name: str
    parameters: Mapping[str, str]
    plan: Plan = field(repr=False)
    measure: Measure
    """What it is judged by: at its own k, where that is a parameter."""

    @property
    def encoder(self) -> tuple[str | None, int | None]:
        """What decides its vectors, before anything is opened."""
        return self.plan.embedder, self.plan.options.max_tokens


Settle = Callable[[str, Mapping[str, str]], SweepPoint]
"""Settles a point, given its name and its parameters; raises UsageError where these can't go together."""


def settle_points(
    file: SweepFile, base: Options, measure: Measure, folder: Path, progress: Progress
) -> list[SweepPoint]:
    """Return every point of a sweep, the baseline last where there is one.

    Combinations of a grid or a draw that can't go together, though each value does with others, are left out and told.
    Raises what else is wrong with any of them, with its place: nothing has run by then. `folder` is that of the file.
    """
    settle = settler(file, base, measure, folder)
    named = [(f"p{number}", values) for number, values in enumerate(draw_points(file), 1)]
    if file.baseline is not None:
        named.append((BASELINE, dict(file.baseline)))
    if measure.k > base.depth:
        raise UsageError(
            f"{measure} is deeper than the rankings",
            expected=f"a measure at {base.depth} or less",
            found=str(measure),
            remedy=f"ask for deeper rankings: --depth {measure.k}",
        )
    points: list[SweepPoint] = []
    refused: list[tuple[Mapping[str, str], UsageError]] = []
    for name, values in named:
        try:
            points.append(settle(name, values))
        except UsageError as error:
            if name == BASELINE or file.method == "list":
                raise
            refused.append((values, error))
    sound = {pair for point in points for pair in point.parameters.items()}
    for combination, refusal in refused:
        if not all(pair in sound or _stands_alone(settle, *pair) for pair in combination.items()):
            raise refusal
    if refused and all(point.name == BASELINE for point in points):
        raise refused[0][1]  # no combination goes together
    if refused:
        reason = refused[0][1].problem.partition("): ")[2]
        progress.note(f"{len(refused)} of {len(named)} combinations are left out: {reason}")
    return points


def _stands_alone(settle: Settle, parameter: str, value: str) -> bool:
    try:
        settle(parameter, {parameter: value})
    except UsageError:
        return False
    return True


def settler(file: SweepFile, base: Options, measure: Measure, folder: Path) -> Settle:
    """Return what settles a point, given its name and its parameters."""
    settled = list[Options]()

    def settle(name: str, values: Mapping[str, str]) -> SweepPoint:
        if "store" in values or "pipeline" in values:
            return _settle(file, name, values, base, measure, folder)
        if not settled:
            settled.append(_settled(base))
        return _settle(file, name, values, settled[0], measure, folder)

    return settle


def _settle(
    file: SweepFile, name: str, values: Mapping[str, str], base: Options, measure: Measure, folder: Path
) -> SweepPoint:
    try:
        configured = configure(base, values, folder)
        plan = plan_run(configured.options)
    except UsageError as error:
        told = ", ".join(f"{parameter} = {value}" for parameter, value in values.items())
        raise UsageError(
            f"{file.name}, {name} ({told or 'no parameter'}): {error.problem}",
            expected=error.expected,
            found=error.found,
            remedy=error.remedy,
        ) from None
    k = configured.k
    return SweepPoint(name, values, plan, measure if k is None else type(measure)(k, measure.option))


def _settled(base: Options) -> Options:
    """Return the options with the store that a run of them would choose: its options are parameters."""
    if base.store is not None or (base.pipeline is not None and not base.pipeline.searches_store):
        return base
    return replace(base, store=plan_run(base).address)
