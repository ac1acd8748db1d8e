"""The latencies in `timings.jsonl`: of single queries, of their stages, and of every answer; cold and warm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from recallbench.errors import InputError
from recallbench.reading import document, is_finite, objects, parsed
from recallbench.results.environment import named_servers
from recallbench.results.metrics import Metrics
from recallbench.retrieval.timing import AnswerTime, QueryTime, Timings
from recallbench.scoring.quantiles import NEAREST_RANK, Percentile, Rule, percentiles

NAME = "timings.jsonl"
STATES = ("cold", "warm", "failed")
SHARES = (0.5, 0.95, 0.99)
"""The percentiles that are told of times."""
NO_OP = "no-op"
"""The state of a round trip without work."""
Part = Literal["", "store call", "adapter", "no-op round trip"]
STORE_CALL: Part = "store call"
ADAPTER: Part = "adapter"
ROUND_TRIP: Part = "no-op round trip"
BUILDING = ("ingest", "ready")
"""The phases of a run in which a store is filled."""
HARDWARE = ("machine", "cpu", "cores")
"""Facts that must be equal for two latencies to be comparable."""


@dataclass(frozen=True, slots=True)
class StageLatency:
    """The times of one stage, or of whole queries, in one state."""

    stage: str
    """Its name in the pipeline; empty for the queries end to end, as their caller waits for them."""
    milliseconds: tuple[float, ...]
    """Every single one, in the order in which they were taken."""
    kept: int = 0
    """How many of them are of answers that had been kept, and that count with the time that they took before."""
    part: Part = ""
    """The part of a query's time that it is; empty for the whole, and for a stage."""

    @property
    def n(self) -> int:
        """How many were taken."""
        return len(self.milliseconds)

    def percentiles(self, rule: Rule = NEAREST_RANK) -> list[Percentile]:
        """Return p50, p95 and p99, each with the bounds that order statistics give."""
        return percentiles(self.milliseconds, SHARES, rule)


def stage_latencies(folder: Path, state: str) -> list[StageLatency]:
    """Return the times of the queries in that state, end to end first, then of each stage of a pipeline by itself.

    Empty where nothing was timed in that state. Raises InputError for a bad time.
    """
    queries, answers = _timed(folder, state)
    return latencies(queries, answers, state)


def latencies(sample: Iterable[QueryTime], answers: Iterable[AnswerTime], state: str) -> list[StageLatency]:
    """Return the same of queries that were timed, and of answers to them."""
    by_key: dict[tuple[str, Part], list[float]] = {}
    kept: Counter[str] = Counter()
    for query in sample:
        if query.state == state:
            parts: tuple[tuple[Part, float | None], ...]
            parts = (("", query.milliseconds), (STORE_CALL, query.store_call), (ADAPTER, query.adapter))
            own = [(("", part), milliseconds) for part, milliseconds in parts if milliseconds is not None]
            for key, milliseconds in (*own, *(((stage, ""), each) for stage, each in query.stages.items())):
                by_key.setdefault(key, []).append(milliseconds)
    for answer in answers:
        if answer.state == state:
            by_key.setdefault((answer.stage, ""), []).append(answer.milliseconds)
            kept[answer.stage] += answer.kept
    return [StageLatency(stage, tuple(times), kept[stage], part) for (stage, part), times in by_key.items()]


def round_trips(milliseconds: Iterable[float]) -> dict[str, list[StageLatency]]:
    """Return the times of round trips without work under their state; empty without any."""
    times = tuple(milliseconds)
    return {NO_OP: [StageLatency("", times, part=ROUND_TRIP)]} if times else {}


def folder_latencies(folder: Path, states: Sequence[str] = STATES) -> dict[str, list[StageLatency]]:
    """Return the times in a folder by these states, and those of round trips without work."""
    return {state: stage_latencies(folder, state) for state in states} | round_trips(query_times(folder, NO_OP))


def undercut_round_trip(by_state: Mapping[str, Sequence[StageLatency]]) -> tuple[StageLatency, StageLatency] | None:
    """Return the warm searches and the round trips without work where the median search is the faster one."""
    warm = {latency.part: latency for latency in by_state.get("warm", ()) if not latency.stage}
    searches, (trips, *_) = warm.get(STORE_CALL, warm.get("")), (*by_state.get(NO_OP, ()), None)
    if searches is None or trips is None:
        return None
    # Files have four digits: the same is found from what was measured and from what is read back.
    search, trip = (round(latency.percentiles()[0].value, 4) for latency in (searches, trips))
    return (searches, trips) if search < trip else None


def read_timings(folder: Path, environment: Mapping[str, Any]) -> Timings:
    """Return the timings of a folder: what a report shows of them, at the digits that the file has."""
    timings = Timings(cold=str(environment.get("cold_queries", "timed")).removeprefix("timed"))
    for number, row in objects(folder / NAME):
        if "phase" in row:
            timings.phases[str(row["phase"])] = float(row["seconds"])
        elif row["state"] == NO_OP:
            timings.no_ops.append(float(row["ms"]))
        elif isinstance(time := query_time(row, f"{NAME}, line {number}"), AnswerTime):
            timings.answers.append(time)
        else:
            timings.sample.append(time)
    return timings


def query_times(folder: Path, state: str) -> list[float]:
    """Return the milliseconds of each query timed in that state, in file order; raises InputError for a bad time."""
    return [query.milliseconds for query in _timed(folder, state)[0]]


def _timed(folder: Path, state: str) -> tuple[list[QueryTime], list[AnswerTime]]:
    queries, answers = [], []
    for number, row in objects(folder / NAME):
        if row.get("state") == state:
            where = f"{folder.name}/{NAME}, line {number}"
            time = query_time(row, where)
            if isinstance(time, AnswerTime):
                answers.append(time)
            else:
                queries.append(time)
    return queries, answers


def query_time(row: Mapping[str, Any], where: str) -> QueryTime | AnswerTime:
    """Return the time of a query or an answer that a row has; raises InputError, naming the place, for a bad one."""
    id, state, milliseconds = str(row.get("question_id")), str(row.get("state")), _time(row.get("ms"), where)
    if "stage" in row:
        return AnswerTime(id, str(row["stage"]), state, milliseconds, row.get("kept") is True)
    stages = row.get("stages", {})
    parts = stages if isinstance(stages, Mapping) else {}
    split = {str(stage): _time(part, f"{where}: {stage}") for stage, part in parts.items()}
    store, adapter = (
        None if row.get(name) is None else _time(row[name], f"{where}: {name}") for name in ("store_ms", "adapter_ms")
    )
    return QueryTime(id, state, milliseconds, split, store, adapter)


def _time(milliseconds: Any, where: str) -> float:
    if not is_finite(milliseconds) or milliseconds < 0:
        raise InputError(
            f"{where}: not the time of a query",
            expected="ms, a finite number of 0 or more",
            found=str(milliseconds),
            remedy="make the result again with `recallbench run`",
        )
    return float(milliseconds)


def build_seconds(environment: Mapping[str, Any], metrics: Metrics) -> float | None:
    """Return how long a store took segments in and built what searching needs, once their vectors were there.

    None where that can't be told: a pipeline fills several stores, one that is replayed is asked in between.
    """
    seconds = environment.get("seconds")
    if metrics.pipeline is not None or (metrics.time is not None and metrics.time.way == "replayed"):
        return None
    spent = [seconds.get(phase) for phase in BUILDING] if isinstance(seconds, Mapping) else []
    told = [float(each) for each in spent if is_finite(each) and each >= 0]
    return sum(told) if told else None


def why_none(folder: Path, state: str) -> str:
    """Return the reason why no query was timed in that state."""
    cold = str(_environment(folder).get("cold_queries", ""))
    return cold if state == "cold" and cold else f"{NAME} has no {state} query"


def machine(folder: Path) -> str:
    """Return the processor that the times were measured on; empty where the folder does not say."""
    return _stated_hardware(_environment(folder)).get("cpu", "")


def other_hardware(first: Path, second: Path) -> str:
    """Return why the times of two results can't be compared; empty where hardware and server are the same."""
    return differing_hardware(_environment(first), _environment(second))


def differing_hardware(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Return the same of the circumstances that two folders state."""
    first_hardware, second_hardware = _stated_hardware(first), _stated_hardware(second)
    reasons = []
    for name, stated in (("first", first_hardware), ("second", second_hardware)):
        unknown = [part for part in HARDWARE if not stated.get(part)]
        if unknown:
            reasons.append(f"the {name} does not say its {unknown[0]}")
    if reasons:
        return "; ".join(reasons)
    return "; ".join(
        f"{part} {first_hardware.get(part) or 'embedded'} and {second_hardware.get(part) or 'embedded'}"
        for part in (*HARDWARE, "server")
        if first_hardware.get(part) != second_hardware.get(part)
    )


def _environment(folder: Path) -> Mapping[str, Any]:
    path = folder / "environment.json"
    return parsed(document(path), path) if path.is_file() else {}


def _stated_hardware(stated: Mapping[str, Any]) -> dict[str, str]:
    machine, options = stated.get("machine"), stated.get("options")
    values = {part: str(machine[part]) for part in HARDWARE if machine.get(part)} if isinstance(machine, dict) else {}
    servers = named_servers(options)
    return {**values, "server": " and ".join(servers)} if servers else values
