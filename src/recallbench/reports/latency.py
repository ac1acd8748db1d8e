"""The latencies of a result: a row for whole queries and for each stage, cold and warm apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from recallbench.escaping.markdown import opening
from recallbench.reports.table import Table
from recallbench.results.latency import (
    NO_OP,
    SHARES,
    STORE_CALL,
    StageLatency,
    folder_latencies,
    undercut_round_trip,
)
from recallbench.results.metrics import Metrics
from recallbench.scoring.intervals import LEVEL
from recallbench.scoring.quantiles import Percentile, fewest_for_bound, quantile

WHOLE = "end to end"
HEADING = "Latency of one query"
_BEHIND = ("generate", "judge")
AT_ONCE = "at_once"
"""The option of a stage that asks several questions at a time."""
_INCLUDED: Mapping[str, str] = {
    "rewrite": "includes the model's answer; one that was kept counts with the time that it took when it was asked for",
    "search": "its store's answer to every text that is searched for",
}


def latency_table(by_state: Mapping[str, Sequence[StageLatency]]) -> Table:
    """Return a row for whole queries and for each stage of a pipeline, in each state."""
    rows = [
        (
            latency.stage or latency.part or WHOLE,
            "–" if state == NO_OP else state,
            str(latency.n),
            *map(_bounded, latency.percentiles()),
            f"{max(latency.milliseconds):.3f}",
        )
        for state, latencies in by_state.items()
        for latency in latencies
    ]
    columns = ("what", "state", "n", *(f"p{share * 100:.0f} ms" for share in SHARES), "slowest ms")
    return Table(columns, rows, caption="One query at a time")


def interpolated(by_state: Mapping[str, Sequence[StageLatency]]) -> list[tuple[str, str]]:
    """Return the rows of whole queries as earlier editions had them."""
    rows = []
    for state, latencies in by_state.items():
        for latency in latencies[:1]:
            p50, p95 = (quantile(latency.milliseconds, share, "linear") for share in (0.5, 0.95))
            name = f"one query, {state} ({latency.n} asked one by one)"
            rows.append((name, f"p50 {p50:.2f} ms, p95 {p95:.2f} ms (interpolated)"))
    return rows


def latency_section(
    metrics: Metrics, by_state: Mapping[str, Sequence[StageLatency]], environment: Mapping[str, Any]
) -> list[str]:
    """Return the table and how it is read as Markdown; empty where nothing was timed."""
    if not any(by_state.values()):
        return []
    reading = [f"- {opening(sentence)}" for sentence in latency_reading(metrics, by_state, environment)]
    return ["", f"### {HEADING}", "", *latency_table(by_state).markdown(), "", *reading]


def latency_reading(
    metrics: Metrics, by_state: Mapping[str, Sequence[StageLatency]], environment: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the sentences on what is in a time, and on how its percentiles are made."""
    if impossible := impossible_times(by_state):
        yield impossible
    calls = metrics.retrieval.asked * len(metrics.retrieval.calls)
    stages = metrics.pipeline.stages if metrics.pipeline is not None else []
    between = ", with all stages and what lies between them, such as embedding a rewritten text" if stages else ""
    yield f"{WHOLE.capitalize()} is what the caller waits for{between}; embedding the question is no part of it."
    yield from _parts_reading(by_state, str(environment.get("store_calls", "")), staged=bool(stages))
    if stages:
        yield "A stage's time is that of its own work alone, and no other's is in it."
    for kind, included in _INCLUDED.items():
        named = [stage.name for stage in stages if stage.kind == kind]
        yield from [f"{', '.join(named)}: {included}."] if named else []
    yield (
        f"Cold is the first query of a fresh session. Before the warm ones, {calls} searches had been made in the same "
        "session, these questions among them; no time here is of those."
    )
    yield from _of_answers(metrics, by_state)
    for stage in stages:
        together = stage.options.get(AT_ONCE, "1")
        # A reranker's times are of questions that were asked one by one.
        if together != "1" and stage.kind in ("rewrite", *_BEHIND):
            yield f"{stage.name} was asked up to {together} questions at a time: each time has what the others cost it."
    fewest = " and ".join(f"{fewest_for_bound(share)} for p{share * 100:.0f}" for share in SHARES if share > 0.5)
    yield (
        "A percentile is the nearest rank: the least time that so many do not exceed. In brackets are order statistics "
        f"as bounds, each with {LEVEL:.0%}; a dash stands where n is too small for one: an upper bound takes {fewest}."
    )


def _of_answers(metrics: Metrics, by_state: Mapping[str, Sequence[StageLatency]]) -> Iterator[str]:
    """Yield the sentences on the times of answers and verdicts; none of a result that has none."""
    behind = [stage for stage in (metrics.pipeline.stages if metrics.pipeline else []) if stage.kind in _BEHIND]
    times = [latency for latencies in by_state.values() for latency in latencies]
    taken = {stage.name: sum(latency.n for latency in times if latency.stage == stage.name) for stage in behind}
    if not any(taken.values()):
        return
    yield (
        f"{', '.join(taken)}: all that is asked for one question, with every try; behind the ranking, and no part of "
        f"{WHOLE}. Every question was timed, none was asked before to warm up, and cold is what a model was asked in "
        "its run before its first answer came."
    )
    kept = {name: sum(latency.kept for latency in times if latency.stage == name) for name in taken}
    if any(kept.values()):
        told = ", ".join(f"{kept[name]} of {n} of {name}" for name, n in taken.items() if kept[name])
        yield (
            f"Kept from before: {told}; such an answer counts with the time that it took when it was asked for, beside "
            "whatever else was asked then."
        )


def impossible_times(by_state: Mapping[str, Sequence[StageLatency]]) -> str:
    """Return the sentence on a store that answers faster than a round trip without work; empty where none does."""
    found = undercut_round_trip(by_state)
    if found is None:
        return ""
    search, trip = (latency.percentiles()[0].value for latency in found)
    return impossible_sentence(search, trip, found[1].n)


def impossible_sentence(search: float, trip: float, trips: int) -> str:
    """Return that searches with this p50 are too fast to be a store's, given that of round trips without work."""
    return (
        f"These can't be the times of the store: the p50 of its searches is {search:.3f} ms, that of a round trip "
        f"without work over the same transport is {trip:.3f} ms ({trips} of them). Are answers kept in this "
        "process, or does the no-op do work?"
    )


def times_line(folder: Path) -> str:
    """Return the median of warm queries with what is in it, in a line, rounded as in the table; empty without times."""
    by_state = folder_latencies(folder, ("warm",))
    warm = [latency for latency in by_state["warm"] if not latency.stage]
    if not warm:
        return ""
    whole, *parts = [
        f"{latency.part or WHOLE} {latency.percentiles()[0].value:.3f}" for latency in (*warm, *_trips(by_state))
    ]
    p95 = warm[0].percentiles()[1].value
    told = f" ({', '.join(parts)})" if parts else ""
    return f"one warm query, p50 ms: {whole}{told}; p95 {p95:.3f}; nearest ranks of {warm[0].n}"


def folder_impossible_times(folder: Path) -> str:
    """Return the same sentence on the times in a folder."""
    return impossible_times(folder_latencies(folder, ("warm",)))


def _trips(by_state: Mapping[str, Sequence[StageLatency]]) -> Sequence[StageLatency]:
    return by_state.get(NO_OP, ())


def _parts_reading(by_state: Mapping[str, Sequence[StageLatency]], store_calls: str, *, staged: bool) -> Iterator[str]:
    if any(latency.part == STORE_CALL for latencies in by_state.values() for latency in latencies):
        yield (
            "Store call is the time from handing a question to the system under test until its answer is here. "
            "The adapter packs the question, unpacks the answer and checks it; it is ours. End to end is both"
            f"{', with all other stages; of legs in this process neither is told' if staged else ''}."
        )
    elif store_calls not in ("", "timed"):
        yield f"Store call and adapter are not told apart: {store_calls}."
    for latency in _trips(by_state):
        yield (
            f"A no-op round trip goes over the transport of the searches with nothing to do at its end: {latency.n} "
            "of them, after the warm queries. No answer of the store can be faster."
        )


def _bounded(percentile: Percentile) -> str:
    low, high = ("–" if bound is None else f"{bound:.3f}" for bound in (percentile.low, percentile.high))
    return f"{percentile.value:.3f} ({low} to {high})"
