"""A latency study: one system, or two in turns, under load, from the options to a folder."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

from recallbench import __version__
from recallbench.corpora.records import Corpus, Haystack
from recallbench.errors import Blocked
from recallbench.interruption import InterruptedWithResult
from recallbench.machine_load import QUIET_RULE, MachineLoad, refuse_unquiet
from recallbench.progress import Progress
from recallbench.reports.load.page import page
from recallbench.reports.own_encoder import encoder_at
from recallbench.results import manifest
from recallbench.results.folder import check_writable, folder_name, free_folder, staged
from recallbench.results.load.levels import (
    CALLS,
    NAME,
    REPORT,
    ColdPart,
    LatencyDocument,
    LevelPart,
    MeasuredSystemPart,
    RoundTripsPart,
    SaturationPart,
    Side,
    TurnsDifferencePart,
    WarmUpPart,
)
from recallbench.retrieval.loop import Haystacks
from recallbench.retrieval.selection import select_haystacks, select_questions
from recallbench.runs.options import Options
from recallbench.runs.placement import results_parent
from recallbench.runs.plan import Plan, plan_run
from recallbench.runs.writing import printable, stated_circumstances, write_lines
from recallbench.scoring.load.figures import SATURATED_RULE, VOID_RULE
from recallbench.scoring.load.percentiles import INTERVAL
from recallbench.scoring.load.saturation import SATURATION_RULE
from recallbench.scoring.load.turns import TURNS_RULE
from recallbench.stores.postgres import folders
from recallbench.stores.registry import variant_of
from recallbench.studies.latency.choices import LatencyChoices
from recallbench.studies.latency.course import Course, LevelRun
from recallbench.studies.latency.rows import call_lines, difference_parts, level_part, machine_part
from recallbench.studies.latency.subject import Subject, open_subject
from recallbench.studies.sizes import find_sizes

MEASURES = (
    "from the intended start of a question (in a closed loop: from its start) until its caller has the hits: waiting "
    "for a free client, the adapter, the transport, the store; the question's vector is there already"
)
LOOK = 0.3
"""Seconds between levels in which nothing is asked, to see what else the machine does."""


@dataclass(frozen=True, slots=True)
class LatencyStudy:
    """A study that is written."""

    document: LatencyDocument
    folder: Path


@dataclass(slots=True)
class _Measured:
    """What was measured so far."""

    rows: list[LevelPart] = field(default_factory=list)
    differences: list[TurnsDifferencePart] = field(default_factory=list)
    saturation: list[SaturationPart] = field(default_factory=list)
    cold: list[ColdPart] = field(default_factory=list)
    warm_up: dict[tuple[Side, int], WarmUpPart] = field(default_factory=dict)
    round_trips: list[RoundTripsPart] = field(default_factory=list)
    systems: dict[Side, MeasuredSystemPart] = field(default_factory=dict)
    runs: list[LevelRun] = field(default_factory=list)
    questions: int = 0

    @property
    def levels(self) -> int:
        """The number of the last level."""
        return self.rows[-1].level if self.rows else 0


def measure_latency(
    options: Sequence[Options], choices: LatencyChoices, progress: Progress, today: date
) -> LatencyStudy:
    """Measure one system, or two in turns, and write what was found.

    An interruption keeps the levels that were whole, and is raised again with their place. Raises Blocked where
    the machine must be quiet and is not: before anything is done, or with the levels so far written.
    """
    plans = [plan_run(each) for each in options]
    for plan in plans:
        for line in plan.announcements:
            progress.note(line)
        plan.refuse_absent_store()
    folders.sweep()
    folder = _folder(plans, today)
    before = MachineLoad.while_idle()
    if choices.require_quiet:
        refuse_unquiet(before, "")
    elif not before.quiet:
        progress.note(before.sentence)
    started, measured = datetime.now(UTC), _Measured()
    corpus = plans[0].open_corpus(progress)
    ended: BaseException | None = None
    try:
        _measure(plans, corpus, choices, measured, progress)
    except KeyboardInterrupt as error:
        ended, why = error, "interrupted"
    except Blocked as error:
        ended, why = error, "; ".join(filter(None, [error.problem, error.found]))
    if ended is not None and not measured.rows:
        raise ended
    ended_at = max(datetime.now(UTC), started)
    document = LatencyDocument(
        schema_version="1",
        recallbench_version=__version__,
        corpus=plans[0].options.corpus,
        dataset_sha256=corpus.sha256,
        questions=measured.questions,
        systems=list(measured.systems.values()),
        depth=plans[0].options.depth,
        arrivals=choices.arrivals,
        seconds=choices.seconds,
        grace=choices.grace,
        most_calls=choices.most_calls,
        seed=choices.seed,
        measures=MEASURES,
        rules=[
            "percentiles are nearest ranks of single calls",
            INTERVAL,
            SATURATION_RULE,
            SATURATED_RULE,
            VOID_RULE,
            QUIET_RULE,
            *([TURNS_RULE] if len(plans) > 1 else []),
        ],
        before=machine_part(before),
        saturation=measured.saturation,
        rows=measured.rows,
        differences=measured.differences,
        cold=measured.cold,
        warm_up=list(measured.warm_up.values()),
        round_trips=measured.round_trips,
        finished=ended is None,
        why_ended="" if ended is None else why,
        environment=printable(
            {
                "started": started.isoformat(timespec="seconds"),
                "ended": ended_at.isoformat(timespec="seconds"),
                **stated_circumstances(plans[0].options, folder),
            }
        ),
    )
    folder = _write(folder, document, measured.runs)
    if ended is not None:
        raise _with_result(ended, len(measured.rows), folder) from ended
    return LatencyStudy(document, folder)


def _measure(
    plans: Sequence[Plan], corpus: Corpus, choices: LatencyChoices, measured: _Measured, progress: Progress
) -> None:
    for size, haystacks in _sizes(plans[0].options, corpus, choices, progress):
        with ExitStack() as closing:
            subjects = []
            for side, plan in zip(_SIDES, plans, strict=False):
                embedder = closing.enter_context(plan.open_embedder(progress))
                opening = open_subject(side, plan, embedder, haystacks, size, choices.seed, progress)
                subjects.append(closing.enter_context(opening))
            measured.questions = len(subjects[0].requests)
            for subject in subjects:
                subject.take_cold()
                subject.warm()
                measured.cold.append(subject.cold)
                if subject.round_trips:
                    measured.round_trips.append(subject.round_trips_part)
                measured.systems.setdefault(subject.side, _system(subject))
                if subject.store.one_caller and max(choices.clients, default=2) > 1:
                    progress.note(f"{subject.store.name} is asked by one client: {subject.store.one_caller}")
            # What is loaded by now stays: the garbage collector need not walk it again while calls are timed.
            gc.freeze()
            closing.callback(gc.unfreeze)
            _measure_size(subjects, choices, measured, progress)


def _measure_size(
    subjects: Sequence[Subject], choices: LatencyChoices, measured: _Measured, progress: Progress
) -> None:
    course = Course(subjects, choices, measured.levels, progress)
    try:
        for runs in course.levels():
            for run in runs:
                found = course.saturation.get(run.subject.side)
                measured.rows.append(level_part(run, found.rate if found is not None else None))
                measured.warm_up[run.subject.side, run.subject.size] = run.subject.warm_up
            measured.differences += difference_parts(runs)
            measured.runs += runs
            if choices.require_quiet:
                refuse_unquiet(_disturbance(runs), " any more")
    finally:
        measured.saturation += course.saturation_parts()


def _with_result(ended: BaseException, levels: int, folder: Path) -> BaseException:
    """Return the same end of a study with the place of the levels that were done."""
    kept = f"the {levels} levels so far are" if levels > 1 else "the one level so far is"
    kept += f" whole: {folder / REPORT}"
    if isinstance(ended, Blocked):
        return Blocked(ended.problem, expected=ended.expected, found=ended.found, remedy=f"{ended.remedy}; {kept}")
    return InterruptedWithResult(kept)


def _disturbance(runs: Sequence[LevelRun]) -> MachineLoad:
    """Return what the machine did beside a level; where the store's server is not ours, just behind the level."""
    if any(run.subject.elsewhere for run in runs):
        return MachineLoad.while_idle(LOOK)
    return runs[0].machine


_SIDES: tuple[Side, ...] = ("A", "B")


def _sizes(
    options: Options, corpus: Corpus, choices: LatencyChoices, progress: Progress
) -> Iterable[tuple[int, Haystacks]]:
    """Yield each size with its haystacks."""
    if choices.sizes == (1,):
        yield (
            1,
            lambda: select_haystacks(
                corpus.haystacks(), pool=options.pooled, limit=options.limit, ignore_time=options.time == "ignored"
            ),
        )
        return
    sizes = find_sizes(corpus, options.corpus, choices.sizes, choices.distractors, progress)
    for factor in sizes.factors:
        grown: list[Haystack] = list(select_questions(sizes.grown(factor, choices.seed), options.limit))
        progress.note(f"{factor}x: {sum(len(haystack.segments) for haystack in grown)} documents")
        yield factor, grown.copy


def _system(subject: Subject) -> MeasuredSystemPart:
    plan, store = subject.plan, subject.store
    return MeasuredSystemPart(
        side=subject.side,
        store=plan.store,
        variant=variant_of(plan.store, plan.options.store_options),
        pipeline=plan.pipeline.words() if plan.pipeline else "",
        version=store.version(),
        embedder=plan.embedder and encoder_at(plan.embedder, plan.options.max_tokens),
        settings=dict(store.settings()),
        evidence=dict(store.evidence()),
    )


def _folder(plans: Sequence[Plan], today: date) -> Path:
    options = plans[0].options
    against = [plan.store for plan in plans[1:]]
    name = folder_name("_".join(["latency", options.version or plans[0].store, *against]), today, options.label)
    folder = free_folder(results_parent(options), name)
    check_writable(folder)
    return folder


def _write(folder: Path, document: LatencyDocument, runs: Sequence[LevelRun]) -> Path:
    with staged(folder, explicit=False) as draft:
        write_lines(draft.temporary / NAME, [document.model_dump_json(indent=1), "\n"])
        write_lines(draft.temporary / CALLS, (line for run in runs for line in call_lines(run)))
        write_lines(draft.temporary / REPORT, [page(document)])
        write_lines(draft.temporary / manifest.NAME, [manifest.build(draft.temporary)])
    return draft.folder
