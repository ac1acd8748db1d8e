"""A sweep from its file to a folder: the points are asked, one is chosen among them, and all of it is written."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from recallbench.compare.rules import Requirement, is_out_of_reach
from recallbench.corpora.records import Corpus
from recallbench.errors import UsageError
from recallbench.progress import Progress
from recallbench.reports.sweep.page import page, web_page
from recallbench.reports.sweep.slices import slice_sheet
from recallbench.reports.sweep.tables import point_sheet
from recallbench.results import manifest
from recallbench.results.costs.prices import read_prices
from recallbench.results.folder import check_writable, folder_name, free_folder, staged
from recallbench.results.sweep.document import BASELINE, NAME, PAGE, POINTS, REPORT, SLICES, SweepDocument
from recallbench.retrieval.selection import select_haystacks
from recallbench.runs.options import Options
from recallbench.runs.placement import results_parent
from recallbench.runs.writing import write_lines
from recallbench.scoring.choice.race import Race, Raced
from recallbench.scoring.choice.split import Split, split_questions
from recallbench.scoring.judgement import judge
from recallbench.scoring.measures.measure import Measure
from recallbench.stores.postgres import folders
from recallbench.studies.sweep.address import is_known
from recallbench.studies.sweep.choosing import SweepCandidates, choose
from recallbench.studies.sweep.costs import usd_per_1000
from recallbench.studies.sweep.file import SweepFile
from recallbench.studies.sweep.kept import SweepCache
from recallbench.studies.sweep.measuring import Measuring, PointOutcome, SweepQuestions
from recallbench.studies.sweep.parts import sweep_document
from recallbench.studies.sweep.points import SweepPoint, settle_points
from recallbench.studies.sweep.rehearsal import Rehearsal, rehearse

MOST_OPEN = 16
"""Stores that a race keeps filled at the same time."""


@dataclass(frozen=True, slots=True)
class SweepChoices:
    """What a user asks of a sweep beside its points."""

    measure: Measure
    margin: float = 0.01
    requirements: tuple[Requirement, ...] = ()
    race: bool = True


@dataclass(frozen=True, slots=True)
class SweepStudy:
    """A sweep that is written."""

    document: SweepDocument
    folder: Path

    @property
    def holds(self) -> bool:
        """Whether every point has figures, every question an answer, and some point keeps every gate."""
        return not self.document.failed and self.document.choice.chosen is not None


@dataclass(frozen=True, slots=True)
class Parts:
    """The questions that count, at their places among all: those to choose by, and those held out."""

    tuning: tuple[int, ...]
    held_out: tuple[int, ...]
    split: Split | None
    """None where there is nothing to split; then all are for tuning."""


def dry_sweep(file: SweepFile, path: Path, base: Options, choices: SweepChoices, progress: Progress) -> Rehearsal:
    """Check a sweep whole, and ask each of its points a few questions; raises what `sweep` would raise before."""
    points, questions, _ = _prepared(file, path, base, choices, progress)
    return rehearse(points, questions, SweepCache(base.cache_dir), file.sha256, progress)


def sweep(
    file: SweepFile, path: Path, base: Options, choices: SweepChoices, progress: Progress, today: date
) -> SweepStudy:
    """Measure the points of a sweep, choose among them, and write what was found.

    Answers are kept point by point: after an interruption the same sweep goes on from them.
    """
    started = time.perf_counter()
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
    measuring = Measuring(points, questions, cache, file.sha256, progress, today)
    try:
        with closing(measuring):
            raced, why_not = _measure(measuring, parts, choices)
    except KeyboardInterrupt:
        progress.note("the answers so far are kept: the same command goes on from there")
        raise
    outcomes = measuring.outcomes
    prices = read_prices()
    costs = {outcome.point.name: usd_per_1000(outcome, questions, prices) for outcome in outcomes}
    able = [o for o in outcomes if o.point.name != BASELINE and o.has(questions, parts.tuning)]
    baseline = next((o for o in outcomes if o.point.name == BASELINE and not o.failure), None)
    candidates = SweepCandidates(able, baseline, questions, parts.tuning, parts.held_out, costs)
    chosen = choose(candidates, choices.requirements, choices.margin, raced)
    document = sweep_document(file, base, choices.measure, candidates, outcomes, parts.split, raced, why_not, chosen)
    document = document.model_copy(
        update={
            "gates": [str(each) for each in choices.requirements],
            "seconds": {**measuring.seconds, "all": round(time.perf_counter() - started, 3)},
        }
    )
    written = _write(folder, document)
    if not document.failed:
        for outcome in outcomes:
            if not is_known(outcome.point.plan):
                cache.drop(outcome.address)
    return SweepStudy(document, written)


def _prepared(
    file: SweepFile, path: Path, base: Options, choices: SweepChoices, progress: Progress
) -> tuple[list[SweepPoint], SweepQuestions, Parts]:
    """Return points and questions; raises all that can be known to be wrong before anything runs."""
    points = settle_points(file, base, choices.measure, path.parent)
    _check_requirements(choices.requirements, points, base.depth)
    questions = open_questions(points[0].plan.open_corpus(progress), base)
    parts = split_parts(questions)
    _refuse_out_of_reach(choices.requirements, questions, parts.tuning)
    return points, questions, parts


def open_questions(corpus: Corpus, options: Options) -> SweepQuestions:
    """Return the haystacks that every point is filled with; raises what is wrong with the corpus."""
    survey = corpus.survey()
    haystacks = select_haystacks(corpus.haystacks(), pool=options.pooled, limit=options.limit)
    return SweepQuestions(list(haystacks), survey)


def split_parts(questions: SweepQuestions) -> Parts:
    """Return the questions to tune by and those held out; only those with gold count."""
    counted = [place for place, question in enumerate(questions.asked) if question.gold]
    asked = questions.at(counted)
    clusters = [question.cluster for question in asked]
    if len({cluster or place for place, cluster in enumerate(clusters)}) < 2:
        return Parts(tuple(counted), (), None)
    split = split_questions(
        [question.id for question in asked],
        clusters if any(clusters) else None,
        [question.kind for question in asked],
    )
    drawn = dict(zip(counted, split.tuning.tolist(), strict=True))
    return Parts(
        tuple(place for place in counted if drawn[place]), tuple(place for place in counted if not drawn[place]), split
    )


def _measure(measuring: Measuring, parts: Parts, choices: SweepChoices) -> tuple[tuple[Raced, list[str]] | None, str]:
    """Ask the points; return the race with the names of its points, and why there was none."""
    measuring.open_encoders()
    running = [o for o in measuring.outcomes if not o.failure and o.point.name != BASELINE]
    baseline = [o for o in measuring.outcomes if not o.failure and o.point.name == BASELINE]
    everything = range(measuring.question_count)
    why_not = _why_no_race(running, parts, choices)
    if why_not:
        measuring.ask_each([*running, *baseline], everything, "asking")
        return None, why_not
    questions = measuring.questions.at(parts.tuning)
    clusters = [question.cluster for question in questions]
    race = Race(len(running), len(questions), clusters if any(clusters) else None)
    raced = measuring.race(running, race, parts.tuning)
    alive = [running[point] for point in sorted(raced.alive) if not running[point].failure]
    measuring.ask_each([*alive, *baseline], everything, "the questions held out")
    return (raced, [outcome.point.name for outcome in running]), ""


def _why_no_race(running: Sequence[PointOutcome], parts: Parts, choices: SweepChoices) -> str:
    """Return why every point is asked everything; empty where they are raced."""
    if not choices.race:
        return "not wanted"
    if len(running) < 3:
        return "there are fewer than three points"
    if parts.split is None or not parts.split.support.chooses:
        return "the part to tune by can't tell any two points apart"
    if choices.requirements:
        return "a point that the race drops might be the best of those that keep the gates"
    stores = {(o.point.plan.address, *sorted(o.point.plan.options.store_options.items())) for o in running}
    if len(stores) > MOST_OPEN:
        return f"it would keep {len(stores)} filled stores open, more than {MOST_OPEN}"
    return ""


def _check_requirements(requirements: Sequence[Requirement], points: Sequence[SweepPoint], depth: int) -> None:
    for requirement in requirements:
        if requirement.bound is None and not any(point.name == BASELINE for point in points):
            raise UsageError(
                f"the gate '{requirement}' has no baseline to compare with",
                expected="a table [baseline] in the sweep's file, empty for the system as it is",
                found="none",
            )
        if requirement.measure is not None and requirement.measure.k > depth:
            raise UsageError(
                f"the gate '{requirement}' is deeper than the rankings",
                expected=f"a measure at {depth} or less",
                found=requirement.name,
                remedy=f"ask for deeper rankings: --depth {requirement.measure.k}",
            )


def _refuse_out_of_reach(requirements: Sequence[Requirement], questions: SweepQuestions, tuning: Sequence[int]) -> None:
    """Raise UsageError for a gate that not even an oracle would keep."""
    asked = questions.at(tuning)
    for requirement in requirements:
        measure, bound = requirement.measure, requirement.bound
        if measure is None or bound is None or not asked:
            continue
        grades = [question.grades for question in asked]
        judged = judge(
            [()] * len(asked),
            [question.gold for question in asked],
            [questions.sizes[question.scope] for question in asked],
            measure.k,
            grades if any(grades) else None,
            [question.one_find for question in asked],
        )
        ceiling = float(measure.ceiling(judged).mean())
        if is_out_of_reach(bound, ceiling):
            raise UsageError(
                f"no point can keep the gate '{requirement}'",
                expected=f"at most {ceiling:.4f}, what the best possible rankings reach here",
                found=f"{bound:g}",
                remedy="lower it",
            )


def _write(folder: Path, document: SweepDocument) -> Path:
    with staged(folder, explicit=False) as draft:
        write_lines(draft.temporary / NAME, [document.model_dump_json(indent=1), "\n"])
        write_lines(draft.temporary / POINTS, [point_sheet(document)])
        write_lines(draft.temporary / SLICES, [slice_sheet(document)])
        write_lines(draft.temporary / REPORT, [page(document)])
        write_lines(draft.temporary / PAGE, [web_page(document)])
        write_lines(draft.temporary / manifest.NAME, [manifest.build(draft.temporary)])
    return draft.folder
