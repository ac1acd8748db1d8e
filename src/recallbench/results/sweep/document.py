"""`sweep.json`: every point of a sweep with its figures, and all that it takes to measure it again."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from recallbench.results.metrics import EstimatePart
from recallbench.results.metrics_part import MetricsPart
from recallbench.results.sweep.sensitivity_part import SensitivityPart
from recallbench.results.sweep.stability_part import StabilityPart

NAME = "sweep.json"
REPORT = "report.md"
PAGE = "report.html"
POINTS = "points.csv"
SLICES = "slices.csv"
BASELINE = "baseline"
"""The name of the point that is the system as it was before."""
P95 = "p95 ms"
USD = "USD for 1,000 questions"
"""The prices that fronts and knees are drawn over."""


class SweepPointPart(MetricsPart):
    name: str = Field(description="p1, p2 … in the order of the file; baseline for the system as it is")
    parameters: dict[str, str] = Field(description="those that it sets itself")
    in_force: dict[str, str] = Field(description="the value of every parameter of the sweep; empty where it has none")
    store: str
    variant: str = Field(description="settings of the store that are not its defaults")
    pipeline: str = Field(description="the stages in words; empty for search alone")
    embedder: str | None
    version: str = Field(description="as its store stated it; empty where it failed")
    estimate: EstimatePart | None = Field(description="over all questions; null where not all were asked of it")
    tuning: float | None = Field(description="over the questions that the choice is made by")
    held_out: EstimatePart | None = Field(description="over the others; null where it was not asked them")
    slices: dict[str, dict[str, EstimatePart]] = Field(
        description="its held-out estimate by kind, tenant and ability, where there is more than one of them"
    )
    dropped_after: int | None = Field(description="questions after which the race dropped it; null where it did not")
    passes: bool = Field(description="it keeps every gate, on the questions that the choice is made by")
    in_set: bool = Field(description="it can't be told from the best that keeps the gates")
    front_share: float | None = Field(
        description="share of resamples of the questions with it on the front, times as measured; null off the choice"
    )
    cost_front_share: float | None = Field(description="the same over what 1,000 questions cost")
    usd_per_1000: float | None = Field(description="what 1,000 questions cost; null where it is not known")
    p50_ms: float | None = Field(description="of single warm searches, nearest rank; null where none was timed")
    p95_ms: float | None
    timed: int = Field(description="how many searches were timed")
    answers_sha256: str = Field(description="its address: a hash over all that decides its rankings")
    kept: bool = Field(description="its answers had been measured before, by this or another sweep")
    one_caller: str = Field(description="why a single caller asked it, where several were to; empty otherwise")
    measured: str = Field(description="the day on which it was asked")
    cpu: str = Field(description="the processor that its times were taken on")
    failed_questions: dict[str, str] = Field(description="questions without an answer, each with its reason")
    failure: str = Field(description="why the point has no figures; empty where it has")


class SplitPart(MetricsPart):
    unit: str = Field(description="cluster or question: what was drawn whole")
    tuning_units: int
    held_out_units: int
    tuning_questions: int = Field(description="with gold, so that they count")
    held_out_questions: int
    seed: int
    chooses: bool = Field(description="the tuning part can tell at least two points apart")
    support: str = Field(description="how many points it supports")


class RacePart(MetricsPart):
    run: bool
    why_not: str = Field(description="empty where it was run")
    looks: int
    dropped: int
    asked: int = Field(description="questions times points")
    saved: int
    method: str


class SweepKneePart(MetricsPart):
    point: str | None = Field(description="null where there is no knee")
    reason: str = Field(description="why there is none")
    price: str = Field(description="what the curve is drawn over")
    support: float = Field(description="share of resamples of the questions with this very point, prices as measured")
    low: float = Field(description="95% of the resampled knees lie between these prices")
    high: float
    worth: float = Field(description="what a doubling of the price must gain")


GateOutcome = Literal["passes", "fails", "inconclusive"]


class HeldOutGatePart(MetricsPart):
    gate: str
    tuning: float | None = Field(description="by the questions to choose by, which the gate was judged on")
    value: float | None = Field(description="by the questions held out; a cost is that of all questions")
    limit: float | None = Field(description="what the gate holds it to: its bound, or the baseline's held-out value")
    kept: bool | None = Field(description="whether the held-out value keeps the gate; null where one is not known")
    of_difference: bool = Field(description="low and high are of the paired difference from the baseline")
    low: float | None
    high: float | None
    method: str = Field(description="of the interval, or why there is none")
    outcome: GateOutcome = Field(description="fails: the whole interval is on the wrong side; passes: on the right one")


class ChoicePart(MetricsPart):
    chosen: str | None = Field(description="null where no point keeps the gates")
    shown: bool = Field(description="it is shown to be non-inferior to all others; else it is only the one seen best")
    margin: float
    best: str | None = Field(description="seen best of those that keep the gates")
    set: list[str] = Field(description="the points that can't be told from the best, best first")
    set_words: str
    confidence: float
    cheapest: str | None = Field(description="the member of the set that costs least; null without prices")
    front: list[str] = Field(description="on the Pareto front as measured")
    front_prices: list[str]
    knee: SweepKneePart | None = Field(description="null where fewer than three points have a time")
    cost_front: list[str] = Field(description="the same over what 1,000 questions cost; empty where it is not known")
    cost_knee: SweepKneePart | None = Field(description="null where fewer than three points have a cost")
    gain: float | None = Field(description="held-out value of the chosen point less that of the baseline")
    gain_low: float | None
    gain_high: float | None
    methods: list[str]
    why_none: str = Field(description="why nothing is chosen; empty where something is")
    gates: list[HeldOutGatePart] = Field(
        default_factory=list, description="of the chosen point, on the questions held out; empty without gates or them"
    )

    @property
    def missed(self) -> list[HeldOutGatePart]:
        """The gates that the chosen point is shown to miss on the questions held out."""
        return [gate for gate in self.gates if gate.outcome == "fails"]


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
    gates: list[str]
    split: SplitPart | None = Field(description="null where the questions can't be split")
    race: RacePart
    choice: ChoicePart
    points: list[SweepPointPart]
    sensitivity: SensitivityPart | None = Field(description="null where it was not wanted, or nothing is chosen")
    stability: StabilityPart | None = Field(description="null where it was not wanted, or nothing is chosen")
    environment: dict[str, Any] = Field(description="command, options, code, machine and packages")
    at_once: int = Field(description="callers that were to ask a point at the same time; questions were timed alone")
    seconds: dict[str, float] = Field(description="wall clock by what was done")

    @property
    def measured(self) -> list[SweepPointPart]:
        """The points that were measured, without the baseline."""
        return [point for point in self.points if not point.failure and point.name != BASELINE]

    def point(self, name: str | None) -> SweepPointPart | None:
        """Return the point of that name; None where there is none."""
        return next((point for point in self.points if point.name == name), None)

    @property
    def is_whole(self) -> bool:
        """Whether nothing failed, neither a point nor what was asked around it or again."""
        again = self.stability.failures if self.stability is not None else []
        around = self.sensitivity.failures if self.sensitivity is not None else {}
        return not (self.failed or again or around)

    @property
    def failed(self) -> list[SweepPointPart]:
        """The points without figures, and those of which some questions failed."""
        return [point for point in self.points if point.failure or point.failed_questions]
