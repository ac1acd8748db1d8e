"""The pipeline in `metrics.json`: each stage with its options and what decides its answers."""

from __future__ import annotations

from dataclasses import asdict

from pydantic import Field

from recallbench.results.effect_part import EffectPart
from recallbench.results.metrics_part import MetricsPart
from recallbench.retrieval.pipeline.record import PipelineRecord


class StagePart(MetricsPart):
    name: str = Field(description="of this stage alone")
    kind: str
    method: str
    options: dict[str, str] = Field(description="every option with its value, those left out too")
    settings: dict[str, str] = Field(description="what it said itself of how it worked, such as hashes of weights")
    store: str = Field(default="", exclude_if=lambda name: not name, description="the store that a leg searched")
    version: str = Field(default="", exclude_if=lambda text: not text, description="as that store stated it")
    evidence: dict[str, str] = Field(
        default_factory=dict, exclude_if=lambda facts: not facts, description="how that store worked"
    )
    effect: EffectPart | None = Field(
        default=None,
        exclude_if=lambda part: part is None,
        description="what it did to the rankings; left out of a stage that decides none",
    )


class PipelinePart(MetricsPart):
    sha256: str = Field(description="over name, kind, method and options of every stage")
    words: str = Field(description="the stages in one line")
    stages: list[StagePart]


def pipeline_part(record: PipelineRecord) -> PipelinePart:
    """Return a pipeline's record as metrics.json has it."""
    return PipelinePart(
        sha256=record.sha256,
        words=record.words,
        stages=[StagePart.model_validate(asdict(stage)) for stage in record.stages],
    )
