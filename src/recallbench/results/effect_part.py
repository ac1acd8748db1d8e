"""What `metrics.json` says of a stage that decides a ranking: what it changed, and what that was worth."""

from __future__ import annotations

from pydantic import Field

from recallbench.results.metrics_part import MetricsPart
from recallbench.scoring.stage_lists import Against


class GoldPart(MetricsPart):
    """Gold segments that a stage moved over the cut."""

    segments: int
    questions: int = Field(description="with at least one of them")


class WithoutPart(MetricsPart):
    """A measure of the pipeline against the same pipeline without one stage."""

    measure: str
    n: int = Field(description="questions with gold for which both are known")
    value: float = Field(description="of the pipeline, over these questions")
    without: float = Field(description="of the pipeline without the stage")
    difference: float = Field(description="the pipeline minus the one without, mean over questions")
    low: float | None = Field(description="lower end of its 95% interval")
    high: float | None
    method: str = Field(description="how the interval was made, or why there is none")
    p: float = Field(description="two-sided, by sign flips, before any correction")
    p_holm: float | None = Field(
        description="after Holm's correction for the overall tests of all stages; null for a kind"
    )
    wins: int
    losses: int


class EffectPart(MetricsPart):
    """What one stage did to the rankings, and what that was worth."""

    calls: int = Field(description="questions that it worked on")
    k: int = Field(description="the cut that gold is promoted and demoted over")
    against: Against | None = Field(
        description="what its list is compared with; null where the pipeline can't do without it"
    )
    changed: int | None = Field(description="rankings that it changed, in order or membership")
    changed_sets: int | None = Field(description="of these, whose first k it changed in membership")
    promoted: GoldPart | None = Field(description="gold brought into the first k")
    demoted: GoldPart | None = Field(description="gold put out of the first k")
    reached: dict[str, float] | None = Field(
        description="what the list that it handed on reaches as it stands; null where it hands none on"
    )
    pool: dict[str, float] | None = Field(
        description="the ceiling: what the best order of the candidates handed on would reach"
    )
    best_leg: str | None = Field(description="of a fuse: the leg with the highest recall_any at k")
    lost: GoldPart | None = Field(description="of a fuse: gold in the first k of the best leg, and not in its own")
    again: bool = Field(description="the pipeline without it was run once more, in part; else its lists were kept")
    without: dict[str, list[WithoutPart]] = Field(
        description="by slice, against the pipeline without it; empty where there is none"
    )
