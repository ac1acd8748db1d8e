"""The stage document of a result: its figures, its costs, and the gold that its stages moved."""

from __future__ import annotations

from recallbench import __version__
from recallbench.errors import InputError, UsageError
from recallbench.reports.latency import folder_impossible_times, times_line
from recallbench.reports.stages.beside import stage_costs
from recallbench.reports.stages.document import MovedGoldPart, StageDocument
from recallbench.reports.stages.table import idle_sentences
from recallbench.results.kept import kept_retrieval
from recallbench.results.result import Result
from recallbench.results.stages import read_stages
from recallbench.retrieval.record import Calls
from recallbench.retrieval.stages.registry import known_kind
from recallbench.scoring.costs import Prices
from recallbench.scoring.gold_moves import Way, gold_moves


def stage_document(result: Result, way: Way | None, chosen: str | None, prices: Prices) -> StageDocument:
    """Return what each stage of a result did; with `way` also the gold that one, or each, moved that way.

    Raises InputError where the result has no pipeline, and UsageError where the pipeline has no such stage.
    """
    pipeline = result.metrics.pipeline
    if pipeline is None:
        raise InputError(
            f"{result.folder} was run without a pipeline, so it has no stages",
            expected="a result that was made by a pipeline",
            remedy="make one with `recallbench run CORPUS --pipeline FILE`, of more stages than a search",
        )
    asked = result.metrics.retrieval.asked
    names = [stage.name for stage in pipeline.stages]
    if chosen is not None and chosen not in names:
        raise UsageError(f"the pipeline has no stage {chosen}", expected=", ".join(names), found=chosen)
    return StageDocument(
        schema_version="1",
        recallbench_version=__version__,
        result=str(result.folder),
        asked=asked,
        pipeline=pipeline,
        costs=dict(stage_costs(result.folder, pipeline, asked, prices).parts),
        currency=prices.currency,
        priced=f"{prices.date}, {prices.source}",
        told=idle_sentences(pipeline),
        times=[line for line in (times_line(result.folder), folder_impossible_times(result.folder)) if line],
        way=way,
        moved=[] if way is None else [move for move in _moved(result, way) if chosen in (None, move.stage)],
    )


def _moved(result: Result, way: Way) -> list[MovedGoldPart]:
    pipeline, rankings = result.metrics.pipeline, result.rankings
    assert pipeline is not None
    traces = [row.trace for row in read_stages(result.folder)]
    k = next(stage.effect.k for stage in pipeline.stages if stage.effect is not None)
    retrieval = kept_retrieval(result.rows(), traces, Calls(k, result.metrics.retrieval.depth))
    kinds = {stage.name: known_kind(stage.kind) for stage in pipeline.stages}
    return [
        MovedGoldPart(
            stage=move.stage,
            question_id=question.id,
            kind=question.kind,
            gold=rankings.name_of(f"{question.scope}/{move.position}"),
            before=move.before,
            after=move.after,
        )
        for move in gold_moves(kinds, retrieval, way, k)
        for question in [retrieval.questions[move.question]]
    ]
