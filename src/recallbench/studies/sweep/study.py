"""A sweep from its file to a folder: the points are asked, one is chosen among them, and all of it is written."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from recallbench.interruption import InterruptedWithResult
from recallbench.machine_load import MachineLoad, MachineReading
from recallbench.progress import Progress
from recallbench.results.costs.prices import read_prices
from recallbench.results.environment import load_document
from recallbench.results.folder import check_writable, folder_name, free_folder
from recallbench.results.sweep.document import BASELINE, SweepDocument
from recallbench.results.sweep.sensitivity_part import SensitivityPart
from recallbench.results.sweep.stability_part import StabilityPart
from recallbench.runs.options import Options
from recallbench.runs.placement import results_parent
from recallbench.stores.postgres import folders
from recallbench.studies.address import is_known
from recallbench.studies.sweep.again import measure_again
from recallbench.studies.sweep.around import measure_around, settings_around
from recallbench.studies.sweep.choices import SweepChoices
from recallbench.studies.sweep.choosing import SweepCandidates, choose
from recallbench.studies.sweep.costs import usd_per_1000
from recallbench.studies.sweep.drawing import draw_points
from recallbench.studies.sweep.file import SweepFile
from recallbench.studies.sweep.held_out_gates import held_out_gates
from recallbench.studies.sweep.kept import SweepCache
from recallbench.studies.sweep.levels import parameter_levels
from recallbench.studies.sweep.measuring import Measuring, PointOutcome
from recallbench.studies.sweep.on_nodes import PointNodes
from recallbench.studies.sweep.parts import sweep_document
from recallbench.studies.sweep.points import SweepPoint, settle_points, settler
from recallbench.studies.sweep.questions import Parts, SweepQuestions, open_questions, split_parts
from recallbench.studies.sweep.racing import measure_points
from recallbench.studies.sweep.rehearsal import Rehearsal, rehearse
from recallbench.studies.sweep.requirements import check_requirements, refuse_out_of_reach
from recallbench.studies.sweep.writing import write_sweep


@dataclass(frozen=True, slots=True)
class SweepStudy:
    """A sweep that is written."""

    document: SweepDocument
    folder: Path
    left_out: int = 0
    """Combinations of parameters that can't be measured."""

    @property
    def holds(self) -> bool:
        """Whether all has figures and answers, and a point is chosen that is not shown to miss a gate held out."""
        choice = self.document.choice
        return self.document.is_whole and choice.chosen is not None and not choice.missed


def dry_sweep(file: SweepFile, path: Path, base: Options, choices: SweepChoices, progress: Progress) -> Rehearsal:
    """Check a sweep whole, and ask each of its points a few questions; raises what `sweep` would raise before."""
    points, questions, _ = _prepared(file, path, base, choices, progress)
    rehearsal = rehearse(points, questions, SweepCache(base.cache_dir), file.sha256, choices.at_once, progress)
    seeds, repeats = choices.again
    around = _most_around(file, points) if choices.sensitivity else 0
    return replace(rehearsal, around=around, again=seeds * repeats, left_out=_left_out(file, points))


def _left_out(file: SweepFile, points: Sequence[SweepPoint]) -> int:
    """Return how many of the combinations that a file states are none of its points."""
    return len(draw_points(file)) + (file.baseline is not None) - len(points)


def _most_around(file: SweepFile, points: Sequence[SweepPoint]) -> int:
    """Return how many points around the chosen one are none of the sweep's own, at most."""
    stated = [point.parameters for point in points]
    counts = [0]
    for point in points:
        if point.name != BASELINE and (levels := parameter_levels(file, stated, point.parameters)):
            settings = settings_around(levels, point.parameters)
            counts.append(sum(setting not in stated for setting in settings))
    return max(counts)


def sweep(
    file: SweepFile, path: Path, base: Options, choices: SweepChoices, progress: Progress, today: date
) -> SweepStudy:
    """Measure the points of a sweep, choose among them, and write what was found.

    Answers are kept point by point: after an interruption the same sweep goes on from them.
    """
    begun, started, before = datetime.now(UTC), time.perf_counter(), MachineReading.take()
    folder = free_folder(results_parent(base), folder_name(f"sweep_{file.name}", today, base.label))
    check_writable(folder)
    points, questions, parts = _prepared(file, path, base, choices, progress)
    folders.sweep()
    support = "" if parts.split is None else f"; {parts.split.support.description}"
    progress.note(
        f"{len(points)} points, {len(questions.asked):,} questions each, {len(parts.tuning):,} to tune{support}"
    )
    if parts.split is None or not parts.split.support.chooses:
        progress.note("the part to tune by is too small to choose: whichever point is seen best may be so by luck")
    cache = SweepCache(base.cache_dir)
    nodes = PointNodes(points, file.sha256, choices.at_once, progress, today) if base.engine.on_nodes else None
    elsewhere = None if nodes is None else nodes.ask
    measuring = Measuring(points, questions, cache, file.sha256, progress, today, choices.at_once, elsewhere)
    further = list[PointOutcome]()
    try:
        with closing(measuring), closing(nodes) if nodes is not None else nullcontext():
            raced, why_not = measure_points(measuring, parts, choices)
            candidates = _candidates(measuring, parts)
            chosen = choose(candidates, choices.requirements, choices.margin, raced)
            gates = held_out_gates(candidates, choices.requirements, chosen.part.chosen)
            chosen = replace(chosen, part=chosen.part.model_copy(update={"gates": gates}))
            told = dict[str, Any]()
            taken = next((each.point for each in measuring.outcomes if each.point.name == chosen.part.chosen), None)
            if taken is not None and choices.sensitivity:
                told["sensitivity"], further = _around(measuring, file, path, base, choices, taken, parts, progress)
            if taken is not None and choices.again[0]:
                told["stability"] = _again(measuring, choices, taken, candidates, parts, progress)
    except KeyboardInterrupt as error:
        raise InterruptedWithResult("the answers so far are kept: the same command goes on from there") from error
    outcomes = measuring.outcomes
    document = sweep_document(file, base, choices.measure, candidates, outcomes, parts.split, raced, why_not, chosen)
    told["gates"] = [str(each) for each in choices.requirements]
    told["at_once"] = choices.at_once
    told["seconds"] = {"all": round(time.perf_counter() - started, 3)}
    load = MachineLoad.between(before, MachineReading.take())
    about = {"started": begun.isoformat(timespec="seconds"), **load_document(load)}
    told["environment"] = {**about, **document.environment}
    document = document.model_copy(update=told)
    written = write_sweep(folder, document)
    if document.is_whole:
        for outcome in (*outcomes, *further):
            if not is_known(outcome.point.plan):
                cache.drop(outcome.address)
    return SweepStudy(document, written, _left_out(file, points))


def _candidates(measuring: Measuring, parts: Parts) -> SweepCandidates:
    questions, outcomes, prices = measuring.questions, measuring.outcomes, read_prices()
    costs = {outcome.point.name: usd_per_1000(outcome, questions, prices) for outcome in outcomes}
    able = [o for o in outcomes if o.point.name != BASELINE and o.has(questions, parts.tuning)]
    baseline = next((o for o in outcomes if o.point.name == BASELINE and not o.failure), None)
    return SweepCandidates(able, baseline, questions, parts.tuning, parts.held_out, costs)


def _around(
    measuring: Measuring,
    file: SweepFile,
    path: Path,
    base: Options,
    choices: SweepChoices,
    taken: SweepPoint,
    parts: Parts,
    progress: Progress,
) -> tuple[SensitivityPart | None, list[PointOutcome]]:
    """Return what the steps around the chosen point change, and the points that were asked for it."""
    levels = parameter_levels(file, [each.point.parameters for each in measuring.outcomes], taken.parameters)
    if not levels:
        progress.note(f"no step can be taken from {taken.name}: none of its parameters has two values in {file.name}")
        return None, []
    settle = settler(file, base, choices.measure, path.parent)
    return measure_around(measuring, taken, levels, settle, parts.counted)


def _again(
    measuring: Measuring,
    choices: SweepChoices,
    taken: SweepPoint,
    candidates: SweepCandidates,
    parts: Parts,
    progress: Progress,
) -> StabilityPart:
    """Return how far the figures of the chosen point and of the baseline move when they are asked again."""
    seeds, repeats = choices.again
    points = [taken, *([] if candidates.baseline is None else [candidates.baseline.point])]
    return measure_again(measuring, points, parts.counted, seeds, repeats, progress)


def _prepared(
    file: SweepFile, path: Path, base: Options, choices: SweepChoices, progress: Progress
) -> tuple[list[SweepPoint], SweepQuestions, Parts]:
    """Return points and questions; raises all that can be known to be wrong before anything runs."""
    points = settle_points(file, base, choices.measure, path.parent, progress)
    for line in dict.fromkeys(line for point in points for line in point.plan.announcements):
        progress.note(line)
    check_requirements(choices.requirements, points, base.depth)
    questions = open_questions(points[0].plan.open_corpus(progress), base)
    parts = split_parts(questions)
    refuse_out_of_reach(choices.requirements, points, questions, parts.tuning)
    return points, questions, parts
