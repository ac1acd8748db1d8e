"""`sweep.json`: every point of a sweep with its figures, and all that it takes to measure it again."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from recallbench.results.metrics import EstimatePart
from recallbench.results.metrics_part import MetricsPart

NAME = "sweep.json"
REPORT = "report.md"
POINTS = "points.csv"
BASELINE = "baseline"
"""The name of the point that is the system as it was before."""


class SweepPointPart(MetricsPart):
    name: str = Field(description="p1, p2 … in the order of the file; baseline for the system as it is")
    parameters: dict[str, str]
    store: str
    variant: str = Field(description="settings of the store that are not its defaults")
    pipeline: str = Field(description="the stages in words; empty for search alone")
    embedder: str | None
    version: str = Field(description="as its store stated it; empty where it failed")
    estimate: EstimatePart | None = Field(description="over every question that was asked; null where it failed")
    p50_ms: float | None = Field(description="of single warm searches, nearest rank; null where none was timed")
    p95_ms: float | None
    timed: int = Field(description="how many searches were timed")
    answers_sha256: str = Field(description="its address: a hash over all that decides its rankings")
    kept: bool = Field(description="its answers had been measured before, by this or another sweep")
    measured: str = Field(description="the day on which it was asked")
    cpu: str = Field(description="the processor that its times were taken on")
    failed_questions: dict[str, str] = Field(description="questions without an answer, each with its reason")
    failure: str = Field(description="why the point has no figures; empty where it has")


class SweepDocument(MetricsPart):
    """A whole sweep."""

    schema_version: Literal["1"]
    recallbench_version: str
    protocol: str
    name: str = Field(description="of its file, without the ending")
    file_sha256: str
    method: Literal["grid", "list", "random"]
    seed: int
    corpus: str
    dataset_sha256: str
    measure: str = Field(description="at the depth of its points, where k is a parameter")
    questions: int = Field(description="asked of every point")
    clusters: int = Field(description="of dependent questions; 0 where each is independent")
    depth: int
    parameters: list[str] = Field(description="in the order of the file")
    points: list[SweepPointPart]
    environment: dict[str, Any] = Field(description="command, options, code, machine and packages")
    seconds: dict[str, float] = Field(description="wall clock by what was done")

    @property
    def measured(self) -> list[SweepPointPart]:
        """The points that have figures, without the baseline."""
        return [point for point in self.points if point.estimate is not None and point.name != BASELINE]

    @property
    def failed(self) -> list[SweepPointPart]:
        """The points without figures, and those of which some questions failed."""
        return [point for point in self.points if point.failure or point.failed_questions]
