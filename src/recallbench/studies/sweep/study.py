"""A sweep from its points to a folder: each is asked, or its kept answers are taken; a failed one stops no other."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np

from recallbench import __version__
from recallbench.corpora.records import Corpus, Haystack, Question
from recallbench.embedding.embedder import Embedder
from recallbench.errors import RecallBenchError
from recallbench.progress import Progress
from recallbench.reports.sweep.page import page
from recallbench.reports.sweep.tables import point_sheet
from recallbench.results import manifest
from recallbench.results.figures import estimate_part, rounded
from recallbench.results.folder import check_writable, folder_name, free_folder, staged
from recallbench.results.sweep.document import NAME, POINTS, REPORT, SweepDocument, SweepPointPart
from recallbench.retrieval.record import Calls
from recallbench.retrieval.selection import select_haystacks
from recallbench.runs.fresh_retrieval import embed_texts
from recallbench.runs.options import Options
from recallbench.runs.placement import results_parent
from recallbench.runs.writing import printable, stated_circumstances, write_lines
from recallbench.scoring.calls import clusters_of, judge_calls
from recallbench.scoring.estimate import estimates
from recallbench.scoring.judgement import Floats, reaching
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.quantiles import quantile
from recallbench.stores.postgres import folders
from recallbench.stores.registry import variant_of
from recallbench.studies.sweep.address import answers_address, is_known
from recallbench.studies.sweep.asking import AskedSystem
from recallbench.studies.sweep.file import SweepFile
from recallbench.studies.sweep.kept import Answers, SweepCache, haystack_sizes
from recallbench.studies.sweep.points import SweepPoint, settle_points


@dataclass(frozen=True, slots=True)
class SweepStudy:
    """A sweep that is written."""

    document: SweepDocument
    folder: Path

    @property
    def whole(self) -> bool:
        """Whether every point has figures, and every question of it an answer."""
        return not self.document.failed


@dataclass(slots=True)
class PointOutcome:
    """What came of one point."""

    point: SweepPoint
    address: str = ""
    answers: Answers | None = None
    kept: bool = False
    failure: str = ""


@dataclass(slots=True)
class Questions:
    """What every point of a sweep is asked."""

    haystacks: Sequence[Haystack]
    sha256: str
    asked: Sequence[Question] = field(init=False)
    sizes: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.asked = [question for haystack in self.haystacks for question in haystack.questions]
        self.sizes = haystack_sizes(self.haystacks)


def sweep(file: SweepFile, path: Path, base: Options, measure: Measure, progress: Progress, today: date) -> SweepStudy:
    """Measure every point of a sweep and write what was found.

    Answers are kept point by point: after an interruption the same sweep goes on from them.
    """
    started = time.perf_counter()
    points = settle_points(file, base, measure, path.parent)
    folders.sweep()
    folder = free_folder(results_parent(base), folder_name(f"sweep_{file.name}", today, base.label))
    check_writable(folder)
    corpus = points[0].plan.open_corpus(progress)
    questions = open_questions(corpus, base)
    kept = SweepCache(base.cache_dir)
    try:
        outcomes = _measure(points, questions, kept, file.sha256, progress, today)
    except KeyboardInterrupt:
        progress.note("the points so far are kept: the same command goes on from there")
        raise
    document = _document(file, base, questions, measure, outcomes, points[0], folder)
    document = document.model_copy(update={"seconds": {"all": round(time.perf_counter() - started, 3)}})
    written = _write(folder, document)
    if not document.failed:
        for outcome in outcomes:
            if not is_known(outcome.point.plan):
                kept.drop(outcome.address)
    return SweepStudy(document, written)


def open_questions(corpus: Corpus, options: Options) -> Questions:
    """Return the haystacks that every point is filled with; raises what is wrong with the corpus."""
    corpus.survey()
    return Questions(
        list(select_haystacks(corpus.haystacks(), pool=options.pooled, limit=options.limit)), corpus.sha256
    )


def _measure(
    points: Sequence[SweepPoint], questions: Questions, kept: SweepCache, sweep: str, progress: Progress, today: date
) -> list[PointOutcome]:
    """Return what came of each point. Those of one encoder are asked one after the other, so that it is opened once."""
    outcomes = {point.name: PointOutcome(point) for point in points}
    groups: dict[tuple[str | None, int | None], list[SweepPoint]] = {}
    fresh: set[str] = set()
    for point in points:
        groups.setdefault(point.encoder, []).append(point)
    with progress.stage("the sweep", len(points), "points") as advance:
        for group in groups.values():
            try:
                with _embedded(group[0], questions, progress) as embedder:
                    for point in group:
                        _measure_point(outcomes[point.name], embedder, questions, kept, fresh, sweep, progress, today)
                        advance(1)
            except RecallBenchError as error:
                # The encoder itself: all of its points fail with it, those of others don't.
                for point in group:
                    outcome = outcomes[point.name]
                    if outcome.answers is None and not outcome.failure:
                        outcome.failure = error.brief
                        advance(1)
    return [outcomes[point.name] for point in points]


@contextmanager
def _embedded(point: SweepPoint, questions: Questions, progress: Progress) -> Iterator[Embedder | None]:
    """Yield the encoder of a point, with a vector for every text."""
    with point.plan.open_embedder(progress) as embedder:
        if embedder is not None:
            embed_texts(questions.haystacks, embedder, sum(questions.sizes.values()))
        yield embedder


def _measure_point(
    outcome: PointOutcome,
    embedder: Embedder | None,
    questions: Questions,
    kept: SweepCache,
    fresh: set[str],
    sweep: str,
    progress: Progress,
    today: date,
) -> None:
    """Ask one point what is not kept of it; `fresh` are the addresses that this sweep measured itself."""
    point = outcome.point
    outcome.address = answers_address(point.plan, questions.sha256, embedder, sweep)
    found = kept.find(outcome.address)
    before = outcome.address not in fresh
    try:
        with AskedSystem(point.plan, embedder, questions.haystacks, found, progress, today) as system:
            system.ask(questions.asked)
            outcome.kept = before and not system.asked
            outcome.answers = system.answers
            if system.asked:
                fresh.add(outcome.address)
                kept.keep(outcome.address, system.answers)
    except RecallBenchError as error:
        outcome.answers, outcome.failure = None, error.brief
        progress.note(f"{point.name} failed: {error.brief}")


def point_values(outcome: PointOutcome, questions: Questions) -> Floats:
    """Return the value of each question at a point that was measured."""
    assert outcome.answers is not None
    options, measure = outcome.point.plan.options, outcome.point.measure
    calls = Calls(outcome.point.plan.rules.default_k, options.depth)
    judged = judge_calls(outcome.answers.retrieval(questions.asked, questions.sizes, calls))
    return measure.values(reaching(judged, measure.k))


def _document(
    file: SweepFile,
    base: Options,
    questions: Questions,
    measure: Measure,
    outcomes: Sequence[PointOutcome],
    first: SweepPoint,
    folder: Path,
) -> SweepDocument:
    names = dict.fromkeys(name for outcome in outcomes for name in outcome.point.parameters)
    measures = {str(outcome.point.measure) for outcome in outcomes}
    return SweepDocument(
        schema_version="1",
        recallbench_version=__version__,
        protocol=first.plan.rules.version,
        name=file.name,
        file_sha256=file.sha256,
        method=file.method,
        seed=file.seed,
        corpus=base.corpus,
        dataset_sha256=questions.sha256,
        measure=str(measure) if len(measures) == 1 else f"{measure.name}@k",
        questions=len(questions.asked),
        clusters=len({question.cluster for question in questions.asked} - {""}),
        depth=base.depth,
        parameters=list(names),
        points=[_point_part(outcome, questions) for outcome in outcomes],
        environment=printable(stated_circumstances(base, folder)),
        seconds={},
    )


def _point_part(outcome: PointOutcome, questions: Questions) -> SweepPointPart:
    plan, answers = outcome.point.plan, outcome.answers
    estimate = None
    times: list[float] = []
    if answers is not None:
        calls = Calls(plan.rules.default_k, plan.options.depth)
        judged = judge_calls(answers.retrieval(questions.asked, questions.sizes, calls))
        everything = {"all": np.ones(len(questions.asked), dtype=bool)}
        found = estimates([outcome.point.measure], judged, clusters_of(questions.asked), everything)["all"][0]
        estimate = rounded(estimate_part(found))
        times = list(answers.milliseconds.values())
    return SweepPointPart(
        name=outcome.point.name,
        parameters=dict(outcome.point.parameters),
        store=plan.store,
        variant=variant_of(plan.store, plan.options.store_options),
        pipeline=plan.pipeline.words() if plan.pipeline is not None else "",
        embedder=plan.embedder,
        version="" if answers is None else answers.version,
        estimate=estimate,
        p50_ms=quantile(times, 0.5),
        p95_ms=quantile(times, 0.95),
        timed=len(times),
        answers_sha256=outcome.address,
        kept=outcome.kept,
        measured="" if answers is None else answers.measured,
        cpu="" if answers is None else answers.cpu,
        failed_questions={} if answers is None else answers.failed,
        failure=outcome.failure,
    )


def _write(folder: Path, document: SweepDocument) -> Path:
    with staged(folder, explicit=False) as draft:
        write_lines(draft.temporary / NAME, [document.model_dump_json(indent=1), "\n"])
        write_lines(draft.temporary / POINTS, [point_sheet(document)])
        write_lines(draft.temporary / REPORT, [page(document)])
        write_lines(draft.temporary / manifest.NAME, [manifest.build(draft.temporary)])
    return draft.folder
