"""How far a sweep's measure moves around its chosen point, as `sweep.json` has it."""

from __future__ import annotations

from pydantic import Field

from recallbench.results.metrics_part import MetricsPart


class StepPart(MetricsPart):
    """One step up of one parameter, or all of its steps together."""

    parameter: str
    start: str | None = Field(description="the level before the step; null where steps are taken together (Morris)")
    end: str | None = Field(description="the level after it")
    moves: int = Field(description="pairs of points that differ in this step alone, and were measured")
    lost: int = Field(description="pairs that are missing since a point failed or can't be")
    mean: float | None = Field(description="by how much the measure moves; Morris's mu")
    low: float | None = Field(description="95% interval of the mean, over clusters, for this step alone")
    high: float | None
    interval: str = Field(description="the method of the interval, or why there is none")
    absolute: float | None = Field(description="mean of the movements without their signs; Morris's mu*")
    deviation: float | None = Field(description="their standard deviation over moves; Morris's sigma")
    least: float | None
    most: float | None
    p95_ms: float | None = Field(description="by how many milliseconds p95 moves")
    p95_least: float | None
    p95_most: float | None
    others: dict[str, float | None] = Field(
        description="by how much other figures move on the mean: measures of the same answers, p50, and cost"
    )


class SensitivityPart(MetricsPart):
    """What the steps around the chosen point change."""

    around: str = Field(description="the chosen point")
    design: str = Field(description="which points were measured around it")
    questions: int = Field(description="all that count: those that the choice was made by, and those held out")
    levels: dict[str, list[str]] = Field(description="of each parameter, in their order")
    points: int
    failures: dict[str, str] = Field(description="why a point around it has no figures, by its parameters")
    impossible: dict[str, str] = Field(description="points around it whose parameters can't go together, each with why")
    steps: list[StepPart]
