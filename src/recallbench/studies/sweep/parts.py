"""The document of a sweep, from what was measured and chosen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recallbench import __version__
from recallbench.confidential import without_secrets
from recallbench.reports.own_encoder import encoder_at
from recallbench.results.sweep.document import RacePart, SplitPart, SweepDocument, SweepPointPart
from recallbench.runs.options import Options
from recallbench.runs.placement import results_parent
from recallbench.runs.writing import printable, stated_circumstances
from recallbench.scoring.choice.race import Raced
from recallbench.scoring.choice.split import Split
from recallbench.scoring.measures.measure import Measure
from recallbench.stores.registry import variant_of
from recallbench.studies.sweep.choosing import SHARES, Chosen, SweepCandidates, latency
from recallbench.studies.sweep.file import SweepFile
from recallbench.studies.sweep.measuring import PointOutcome
from recallbench.studies.sweep.parameters import value_in_force
from recallbench.studies.sweep.slicing import point_estimates


def sweep_document(
    file: SweepFile,
    base: Options,
    measure: Measure,
    candidates: SweepCandidates,
    outcomes: Sequence[PointOutcome],
    split: Split | None,
    raced: tuple[Raced, Sequence[str]] | None,
    why_not: str,
    chosen: Chosen,
) -> SweepDocument:
    """Return the document, but for its gates and seconds."""
    questions = candidates.questions
    names = dict.fromkeys(name for outcome in outcomes for name in outcome.point.parameters)
    measures = {str(outcome.point.measure) for outcome in outcomes}
    ordered = list(names)
    dropped = {} if raced is None else {raced[1][drop.point]: drop.asked for drop in raced[0].dropped}
    return SweepDocument(
        schema_version="1",
        recallbench_version=__version__,
        protocol=outcomes[0].point.plan.rules.version,
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
        parameters=ordered,
        gates=[],
        split=None if split is None else _split_part(split, candidates),
        race=_race_part(raced, why_not),
        choice=chosen.part,
        points=[
            _point_part(outcome, candidates, chosen, dropped.get(outcome.point.name), ordered) for outcome in outcomes
        ],
        sensitivity=None,
        stability=None,
        environment=printable(stated_circumstances(base, Path(results_parent(base)))),
        at_once=1,
        seconds={},
    )


def _split_part(split: Split, candidates: SweepCandidates) -> SplitPart:
    return SplitPart(
        unit=split.unit,
        tuning_units=split.tuning_units,
        held_out_units=split.held_out_units,
        tuning_questions=len(candidates.tuning),
        held_out_questions=len(candidates.held_out),
        seed=split.seed,
        chooses=split.support.chooses,
        support=split.support.description,
    )


def _race_part(raced: tuple[Raced, Sequence[str]] | None, why_not: str) -> RacePart:
    if raced is None:
        return RacePart(run=False, why_not=why_not, looks=0, dropped=0, asked=0, saved=0, method="")
    found = raced[0]
    return RacePart(
        run=True,
        why_not="",
        looks=found.looks,
        dropped=len(found.dropped),
        asked=found.asked,
        saved=found.saved,
        method=found.method,
    )


def _point_part(
    outcome: PointOutcome,
    candidates: SweepCandidates,
    chosen: Chosen,
    dropped_after: int | None,
    parameters: Sequence[str],
) -> SweepPointPart:
    plan, answers, name = outcome.point.plan, outcome.answers, outcome.point.name
    estimates = point_estimates(outcome, candidates)
    return SweepPointPart(
        name=name,
        parameters=without_secrets(outcome.point.parameters),
        in_force={each: value_in_force(each, plan, outcome.point.measure.k) for each in parameters},
        store=plan.store,
        variant=variant_of(plan.store, plan.options.store_options),
        pipeline=plan.pipeline.words() if plan.pipeline is not None else "",
        embedder=plan.embedder and encoder_at(plan.embedder, plan.options.max_tokens),
        version="" if answers is None else answers.version,
        estimate=estimates.everything,
        tuning=None if estimates.tuning is None else estimates.tuning.value,
        held_out=estimates.held_out,
        slices=estimates.slices,
        dropped_after=dropped_after,
        passes=name in chosen.passing,
        in_set=name in chosen.part.set,
        front_share=chosen.front_shares.get(name),
        cost_front_share=chosen.cost_shares.get(name),
        usd_per_1000=candidates.costs.get(name),
        p50_ms=latency(outcome, SHARES["p50"]),
        p95_ms=latency(outcome, SHARES["p95"]),
        timed=0 if answers is None else len(answers.milliseconds),
        answers_sha256=outcome.address,
        kept=outcome.kept,
        one_caller=outcome.one_caller,
        measured="" if answers is None else answers.measured,
        cpu="" if answers is None else answers.cpu,
        failed_questions={} if answers is None else answers.failed,
        failure=outcome.failure,
    )
