"""How the stages of a pipeline end: which of them is worth having."""

from __future__ import annotations

from recallbench.reports.stages.document import StageDocument, conclusion
from recallbench.results.effect_part import EffectPart, WithoutPart
from recallbench.results.metrics import OVERALL
from recallbench.results.pipeline_part import PipelinePart, StagePart


def stage(name: str, *differences: tuple[str, float, float]) -> StagePart:
    """A stage with its differences: measure, difference, corrected p."""
    parts = [
        WithoutPart.model_construct(
            measure=measure, n=158, difference=change, low=change - 0.02, high=change + 0.02, p_holm=p
        )
        for measure, change, p in differences
    ]
    effect = EffectPart.model_construct(without={OVERALL: parts} if parts else {})
    return StagePart.model_construct(name=name, effect=effect)


def told(*stages: StagePart, way: str | None = None) -> str:
    pipeline = PipelinePart.model_construct(stages=list(stages))
    return str(conclusion(StageDocument.model_construct(pipeline=pipeline, way=way)))


def test_stages_that_help_and_hurt_are_named_with_the_first_figure() -> None:
    gains = stage("fuse", ("recall_any@10", 0.05, 0.001), ("mrr@50", 0.01, 0.4))
    loses = stage("rerank", ("recall_any@10", -0.04, 0.02))
    assert told(gains, loses) == (
        "fuse makes it better; rerank makes it worse: fuse recall_any@10 +0.0500 (+0.0300 to +0.0700), 158 questions, "
        "p 0.0010; p is corrected, and decides"
    )


def test_a_stage_that_does_both_is_said_to() -> None:
    both = stage("fuse", ("recall_any@10", 0.05, 0.001), ("mrr@50", -0.05, 0.001))
    assert told(both).startswith("fuse makes one measure better and another worse: fuse recall_any@10 +0.0500")


def test_nothing_shown_and_nothing_to_compare() -> None:
    assert told(stage("fuse", ("recall_any@10", 0.05, 0.2))) == (
        "No stage is shown to change what is found; that does not make them worthless: fewer questions show less"
    )
    assert told(stage("fuse")) == "No stage can be compared with the pipeline without it"


def test_the_line_stays_short_however_many_stages_there_are() -> None:
    names = [f"a-stage-of-our-own-{n}" for n in range(8)]
    stages = [stage(name, ("recall_frac@10", 0.05 if n % 2 else -0.05, 0.001)) for n, name in enumerate(names)]
    line = told(*stages)
    assert "; 6 more change it: a-stage-of-our-own-0 recall_frac@10 -0.0500 (" in line
    assert len(line) <= 220


def test_questions_that_were_asked_for_by_name_need_no_conclusion() -> None:
    assert told(stage("fuse"), way="lost") == "None"
