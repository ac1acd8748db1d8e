"""What a result says of its pipeline: every stage with its options and what decides its answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from recallbench.retrieval.pipeline.chain import OpenedStage
from recallbench.retrieval.pipeline.composite import PipelineStore
from recallbench.retrieval.pipeline.pipeline import StageSpec


@dataclass(frozen=True, slots=True)
class StageRecord:
    """One stage as a result has it."""

    name: str
    kind: str
    method: str
    options: Mapping[str, str]
    settings: Mapping[str, str] = field(default_factory=dict)
    """What it said itself of how it worked."""
    store: str = ""
    """The store of a leg."""
    version: str = ""
    """The version that the leg's store stated."""
    evidence: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PipelineRecord:
    """A whole pipeline as a result has it."""

    sha256: str
    words: str
    stages: tuple[StageRecord, ...]


def pipeline_record(store: PipelineStore, behind: Iterable[OpenedStage] = ()) -> PipelineRecord:
    """Return the record of an opened pipeline; its stores are asked for their versions and settings.

    `behind` are its stages behind the ranking.
    """
    opened = {each.spec.name: each.stage for each in (*store.stages, *behind)}
    legs = {leg.spec.name: leg.store for leg in store.legs}

    def record(spec: StageSpec) -> StageRecord:
        told = spec.recorded()
        parts = (told["name"], told["kind"], told["method"], told["options"])
        leg = legs.get(spec.name)
        if leg is not None:
            return StageRecord(*parts, dict(leg.settings()), leg.name, leg.version(), dict(leg.evidence()))
        return StageRecord(*parts, dict(opened[spec.name].settings()) if spec.name in opened else {})

    return PipelineRecord(store.pipeline.sha256, store.pipeline.words(), tuple(record(spec) for spec in store.pipeline))
