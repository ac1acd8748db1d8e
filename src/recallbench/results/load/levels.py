"""`latency.json`: every level of a latency study, and all that it takes to believe it."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from recallbench.results.metrics_part import MetricsPart

NAME = "latency.json"
CALLS = "calls.jsonl"
REPORT = "report.md"
Side = Literal["A", "B"]


class LoadPercentilePart(MetricsPart):
    value: float | None = Field(description="milliseconds, nearest rank; null where no call was answered or waited for")
    low: float | None = Field(description="lower bound; null where there are too few calls")
    high: float | None = Field(description="upper bound; null where there are too few calls, or some had no answer")
    at_least: bool = Field(description="calls without an answer could raise the value")


class MachineLoadPart(MetricsPart):
    others: float | None = Field(description="share of all processors that other processes had; null where not told")
    steal: float | None = Field(description="share of all processors that a host gave to other machines")
    throttled: bool | None
    load_average: float | None = Field(description="over the last minute")
    quiet: bool = Field(description="nothing is known to have disturbed the level")
    words: str


class AnswerQualityPart(MetricsPart):
    measure: str
    value: float | None
    low: float | None
    high: float | None
    method: str = Field(description="of the interval; answers to one question count as dependent")
    chance: float | None
    n: int = Field(description="answers, those that failed as the worst")


class TimePartPart(MetricsPart):
    name: str = Field(description="waiting, store call, adapter and stages; or answering, where a store runs here")
    p50: float = Field(description="milliseconds; percentiles of parts do not add up to those of the whole")
    p95: float


class LevelRowsPart(MetricsPart):
    asked: int = Field(description="hits asked for in all calls that were answered")
    eligible: int = Field(description="of these, how many the haystacks hold")
    returned: int
    short_calls: int = Field(description="calls that got fewer than were eligible")


class LevelPart(MetricsPart):
    level: int = Field(description="its number: each call in calls.jsonl has that of its level")
    side: Side
    size: int = Field(description="how many times their own size the haystacks had")
    stored: int = Field(description="segments that the store held")
    kind: Literal["closed", "open"]
    clients: int
    rate: float | None = Field(description="questions a second that were to arrive; null of a closed loop")
    utilisation: float | None = Field(description="rate / saturation; null of a closed loop")
    arrivals: int = Field(description="questions that were to be asked")
    n: int = Field(description="questions that were answered")
    failed: int
    skipped: int = Field(description="arrivals that no client was free for in the level's time and grace")
    seconds: float
    throughput: float = Field(description="answers a second")
    busy_share: float = Field(description="share of their time in which clients waited for the store")
    p50: LoadPercentilePart
    p95: LoadPercentilePart
    p99: LoadPercentilePart
    slowest_ms: float | None
    parts: list[TimePartPart] = Field(default=[], description="what the times are made of; not told by early releases")
    rows: LevelRowsPart | None = Field(default=None, description="null where nothing was answered, or not told")
    lag_p50_ms: float = Field(description="of the generator itself")
    lag_p99_ms: float
    void: bool = Field(description="nothing follows from this level")
    why_void: str
    saturated: bool = Field(description="the rate can't be reached; percentiles grow with the level's time")
    distinct: int = Field(description="different questions asked")
    most_often: int = Field(description="how often the question was asked that was asked most often")
    quality: list[AnswerQualityPart] = Field(description="of the very answers that were timed")
    machine: MachineLoadPart


class SaturationPart(MetricsPart):
    side: Side
    size: int
    clients: int
    rate: float = Field(description="answers a second")
    reached: bool = Field(description="more clients were tried, and added too little")
    why_alone: str = Field(description="why one client asks alone; empty where several can")
    why_no_more: str = Field(default="", description="why more clients could not be tried; empty where they could")


class ColdPart(MetricsPart):
    side: Side
    size: int
    ms: list[float] = Field(description="each the first call of a fresh session")
    why_none: str


class RoundTripsPart(MetricsPart):
    side: Side
    size: int
    ms: list[float] = Field(description="each a round trip without work over the transport of the searches")


class WarmUpPart(MetricsPart):
    side: Side
    size: int
    calls: int = Field(description="answered before anything was timed, by all clients")
    seconds: float


class TurnsDifferencePart(MetricsPart):
    size: int
    kind: Literal["closed", "open"]
    clients: int
    rate: float | None
    percentile: Literal["p50", "p95"]
    pairs: int = Field(description="pairs of blocks")
    first: float = Field(description="mean of A's blocks, in milliseconds")
    second: float
    difference: float = Field(description="B minus A")
    low: float | None
    high: float | None
    method: str
    p: float
    smallest_p: float = Field(description="the least that so many pairs can reach")


class MeasuredSystemPart(MetricsPart):
    side: Side
    store: str
    variant: str
    pipeline: str
    version: str
    embedder: str | None
    settings: dict[str, str]
    evidence: dict[str, str]


class LatencyDocument(MetricsPart):
    """A latency study: what `latency.json` holds."""

    schema_version: Literal["1"]
    recallbench_version: str
    corpus: str
    dataset_sha256: str
    questions: int = Field(description="different questions that could be asked, each with a vector of its own")
    systems: list[MeasuredSystemPart]
    depth: int = Field(description="hits asked for in each call")
    arrivals: Literal["poisson", "constant"]
    seconds: float = Field(description="of each level, of each system")
    grace: float = Field(description="seconds behind a level in which those who wait are still served")
    most_calls: int = Field(description="a level with more calls than that is as much shorter")
    seed: int
    measures: str = Field(description="what a time includes")
    rules: list[str]
    before: MachineLoadPart = Field(description="the machine before anything was asked")
    saturation: list[SaturationPart]
    rows: list[LevelPart]
    differences: list[TurnsDifferencePart] = Field(description="B minus A; empty of one system")
    cold: list[ColdPart]
    warm_up: list[WarmUpPart]
    round_trips: list[RoundTripsPart] = Field(default=[], description="none of a store that has no transport")
    finished: bool = Field(description="false where an interruption or a disturbance ended it: its levels are whole")
    why_ended: str
    environment: dict[str, Any]

    @model_validator(mode="after")
    def _levels_are_of_its_systems(self) -> Self:
        parts: list[LevelPart | SaturationPart | ColdPart | WarmUpPart | RoundTripsPart]
        parts = [*self.rows, *self.saturation, *self.cold, *self.warm_up, *self.round_trips]
        known = {system.side for system in self.systems}
        if others := {part.side for part in parts} - known:
            raise ValueError(f"something is of side {min(others)}, and no system is")
        return self
