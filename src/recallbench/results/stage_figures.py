"""The figures of each stage of a pipeline, worked out from what the stages handed on."""

from __future__ import annotations

from collections.abc import Mapping

from recallbench.corpora.records import Survey
from recallbench.results.effect_part import EffectPart, GoldPart, WithoutPart
from recallbench.results.figures import rounded
from recallbench.results.metrics import OVERALL
from recallbench.results.pipeline_part import PipelinePart
from recallbench.results.question_slices import kind_slices
from recallbench.retrieval.record import Retrieval
from recallbench.retrieval.stages.registry import known_kind
from recallbench.retrieval.stages.stage import Kind
from recallbench.scoring.judgement import Bools
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.paired import holm
from recallbench.scoring.stage_changes import stage_changes
from recallbench.scoring.stage_effects import GoldByQuestion, MeasuredDifference, StageEffects, stage_effects
from recallbench.scoring.stage_lists import stage_lists


def with_effects(pipeline: PipelinePart, retrieval: Retrieval, survey: Survey) -> PipelinePart:
    """Return the pipeline with what each of its stages did, by the traces of the retrieval."""
    stages = {stage.name: known_kind(stage.kind) for stage in pipeline.stages}
    effects = effect_parts(stages, retrieval, kind_slices(retrieval.questions, survey))
    return pipeline.model_copy(
        update={
            "stages": [
                stage.model_copy(update={"effect": rounded(effects.get(stage.name))}) for stage in pipeline.stages
            ]
        }
    )


def effect_parts(
    stages: Mapping[str, Kind], retrieval: Retrieval, slices: Mapping[str, Bools]
) -> dict[str, EffectPart]:
    """Return the part of each stage that decides a ranking, by its name; `stages` has the kind of each in order."""
    k = min(retrieval.calls.k, retrieval.calls.depth)
    effects = stage_effects(stages, retrieval, slices, k)
    changes = {lists.stage: stage_changes(lists, k) for lists in stage_lists(stages, retrieval)}
    tested = [(stage, i) for stage, effect in effects.items() for i in range(len(effect.differences.get(OVERALL, ())))]
    ps = holm([effects[stage].differences[OVERALL][i].paired.test.p for stage, i in tested])
    adjusted = dict(zip(tested, ps, strict=True))
    return {
        stage: EffectPart(
            calls=changes[stage].calls,
            k=k,
            against=changes[stage].against,
            changed=changes[stage].rankings,
            changed_sets=changes[stage].sets,
            promoted=_gold(effect.promoted),
            demoted=_gold(effect.demoted),
            reached=_by_measure(effect.reached),
            pool=_by_measure(effect.pool),
            best_leg=effect.best_leg,
            lost=_gold(effect.lost),
            again=effect.again,
            without=_without(effect, adjusted),
        )
        for stage, effect in effects.items()
    }


def _by_measure(values: Mapping[Measure, float] | None) -> dict[str, float] | None:
    return None if values is None else {str(measure): value for measure, value in values.items()}


def _gold(moved: GoldByQuestion | None) -> GoldPart | None:
    return None if moved is None else GoldPart(segments=sum(map(len, moved.values())), questions=len(moved))


def _without(effect: StageEffects, adjusted: Mapping[tuple[str, int], float]) -> dict[str, list[WithoutPart]]:
    return {
        name: [
            _difference(each, adjusted[effect.stage, i] if name == OVERALL else None)
            for i, each in enumerate(differences)
        ]
        for name, differences in effect.differences.items()
    }


def _difference(of: MeasuredDifference, adjusted: float | None) -> WithoutPart:
    pair = of.paired
    return WithoutPart(
        measure=str(of.measure),
        n=pair.n,
        value=pair.second,
        without=pair.first,
        difference=pair.difference,
        low=pair.low,
        high=pair.high,
        method=pair.method,
        p=pair.test.p,
        p_holm=adjusted,
        wins=pair.wins,
        losses=pair.losses,
    )
