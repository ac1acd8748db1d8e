"""How far the figures of a sweep's chosen point move when it is asked again, as `sweep.json` has it."""

from __future__ import annotations

from pydantic import Field

from recallbench.results.metrics_part import MetricsPart


class RepeatedFigurePart(MetricsPart):
    """The spread of one figure of one point."""

    point: str
    figure: str = Field(description="the measure, or p50 or p95 in milliseconds")
    runs: list[list[float]] = Field(description="each run of the figure, by seed")
    mean: float = Field(description="of the means by seed")
    over_repeats: float | None = Field(description="standard deviation with the same seed; null without repeats")
    over_seeds: float | None = Field(description="standard deviation of the means by seed; null with one seed")
    least: float
    most: float


class StabilityPart(MetricsPart):
    """Points that were asked again, each time from a store that was filled anew."""

    repeats: int = Field(description="with each seed")
    seeds: int = Field(description="1, 2, …: each decides in which order haystacks are filled and questions asked")
    seeded: dict[str, list[str]] = Field(description="stages that are given the seed too, by point")
    questions: int = Field(description="all that count: those that the choice was made by, and those held out")
    spreads: list[RepeatedFigurePart]
    failures: list[str] = Field(description="runs that failed, each with its reason")
