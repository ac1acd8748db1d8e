"""The figures of one level of load: what its callers waited, what the store gave, and whether to believe it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from recallbench.retrieval.load.call import LoadCall, LoadLevel
from recallbench.scoring.load.percentiles import LoadPercentile, load_percentiles
from recallbench.scoring.quantiles import quantile

SHARES = (0.5, 0.95, 0.99)
MOST_LAG_MS = 1.0
MOST_LAG_SHARE = 0.05
"""Of the p50."""
VOID_RULE = (
    f"void: the p99 of the generator's own lag is over {MOST_LAG_MS:g} ms, or over {MOST_LAG_SHARE:.0%} of the p50"
)
WAITING, STORE_CALL, REST, ANSWERING = "waiting", "store call", "adapter and stages", "answering"
"""The parts of a time: for a free client (and for a late generator), in the system, around it; or the last two."""
BACKLOG = 0.05
"""The share of the arrivals that may be unanswered when the last has come."""
SATURATED_RULE = (
    f"saturated: when the last arrival of a level had come, more than {BACKLOG:.0%} of them, and more than two for "
    "each client, had no answer yet"
)


@dataclass(frozen=True, slots=True)
class TimePart:
    """A part of the times that callers waited, in milliseconds: its percentiles are its own, and add up to nothing."""

    name: str
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class LoadFigures:
    """The figures of a level; times are in milliseconds."""

    n: int
    """Calls that were answered."""
    failed: int
    skipped: int
    seconds: float
    throughput: float
    """Answers in a second."""
    busy_share: float
    """The share of their time in which clients waited for the store."""
    percentiles: tuple[LoadPercentile, ...]
    """p50, p95 and p99."""
    slowest_ms: float | None
    parts: tuple[TimePart, ...]
    """Waiting first; then the store's call and the rest, or both as one where they are not told apart."""
    lag_p50_ms: float
    lag_p99_ms: float
    why_void: str
    """Empty where the generator kept time."""
    saturated: bool
    """The rate that was asked for can't be reached."""
    distinct: int
    """Different questions that were asked."""
    most_often: int
    """How often the one was asked that was asked most often."""


def load_figures(blocks: Sequence[LoadLevel]) -> LoadFigures:
    """Return the figures of a level that was run in one or more blocks."""
    calls = [call for block in blocks for call in block.calls]
    times = [1000 * call.latency for call in calls if call.hits is not None]
    failures = [1000 * call.latency for call in calls if call.hits is None]
    skips = [1000 * max(0.0, block.seconds - intended) for block in blocks for intended in block.skipped]
    seconds = sum(max(block.seconds, block.planned) for block in blocks)
    served = sum(call.service for call in calls)
    found = tuple(load_percentiles(times, [*failures, *skips], SHARES))
    lags = [1000 * call.lag for call in calls]
    asked = Counter(call.question for call in calls)
    lag50, lag99 = quantile(lags, 0.5) or 0.0, quantile(lags, 0.99) or 0.0
    return LoadFigures(
        n=len(times),
        failed=len(failures),
        skipped=len(skips),
        seconds=seconds,
        throughput=len(times) / seconds if seconds else 0.0,
        busy_share=min(1.0, served / sum(block.clients * block.seconds for block in blocks)) if seconds else 0.0,
        percentiles=found,
        slowest_ms=max([*times, *failures, *skips], default=None),
        parts=time_parts([call for call in calls if call.hits is not None]),
        lag_p50_ms=lag50,
        lag_p99_ms=lag99,
        why_void=why_void(lag99, found[0].value),
        saturated=_is_saturated(blocks),
        distinct=len(asked),
        most_often=max(asked.values(), default=0),
    )


def time_parts(answered: Sequence[LoadCall]) -> tuple[TimePart, ...]:
    """Return what the times of these calls are made of; empty without any."""
    parts = {WAITING: [call.started - call.intended for call in answered]}
    if any(call.store_call is None for call in answered):
        parts[ANSWERING] = [call.service for call in answered]
    else:
        parts[STORE_CALL] = [call.store_call or 0.0 for call in answered]
        parts[REST] = [max(0.0, call.service - (call.store_call or 0.0)) for call in answered]
    return tuple(
        TimePart(name, 1000 * p50, 1000 * p95)
        for name, seconds in parts.items()
        if (p50 := quantile(seconds, 0.5)) is not None and (p95 := quantile(seconds, 0.95)) is not None
    )


def why_void(lag_p99_ms: float, p50_ms: float | None) -> str:
    """Return why nothing follows from a level with this lag; empty where the generator kept time."""
    if lag_p99_ms > MOST_LAG_MS:
        return f"the generator's own p99 lag is {lag_p99_ms:.3g} ms, over {MOST_LAG_MS:g} ms"
    if p50_ms is not None and lag_p99_ms > MOST_LAG_SHARE * p50_ms:
        return f"the generator's own p99 lag is {lag_p99_ms:.3g} ms, over {MOST_LAG_SHARE:.0%} of the p50"
    return ""


def _is_saturated(blocks: Sequence[LoadLevel]) -> bool:
    opened = [block for block in blocks if block.planned]
    late = sum(block.unanswered_at_end for block in opened)
    arrivals = sum(len(block.calls) + len(block.skipped) for block in opened)
    return any(block.skipped for block in opened) or late > max(
        BACKLOG * arrivals, 2 * sum(block.clients for block in opened)
    )
