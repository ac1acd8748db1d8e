"""The rows of a latency study: the figures of each level, and the differences of two systems."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from recallbench.machine_load import MachineLoad
from recallbench.results.load.levels import (
    LevelPart,
    LoadPercentilePart,
    MachineLoadPart,
    TimePartPart,
    TurnsDifferencePart,
)
from recallbench.scoring.load.figures import load_figures
from recallbench.scoring.load.percentiles import LoadPercentile
from recallbench.scoring.load.turns import turns_difference
from recallbench.studies.latency.course import LevelRun
from recallbench.studies.latency.quality import answer_worth

ELSEWHERE = " The store's own server counts among other processes, if it runs on this machine."
DIGITS = 4


def level_part(run: LevelRun, saturation: float | None) -> LevelPart:
    """Return the row of a level; raises InputError where the store broke its contract in one of its calls."""
    found = load_figures(run.blocks)
    subject, rate = run.subject, run.level.rate
    calls = [call for block in run.blocks for call in block.calls]
    p50, p95, p99 = map(_percentile_part, found.percentiles)
    worth = answer_worth(calls, subject.requests, subject.depth, subject.store.name)
    return LevelPart(
        level=run.level.number,
        side=subject.side,
        size=subject.size,
        stored=subject.stored,
        kind="closed" if rate is None else "open",
        clients=run.clients,
        rate=None if rate is None else round(rate, DIGITS),
        utilisation=None if rate is None or not saturation else round(rate / saturation, DIGITS),
        arrivals=len(calls) + found.skipped,
        n=found.n,
        failed=found.failed,
        skipped=found.skipped,
        seconds=round(found.seconds, DIGITS),
        throughput=round(found.throughput, DIGITS),
        busy_share=round(found.busy_share, DIGITS),
        p50=p50,
        p95=p95,
        p99=p99,
        slowest_ms=_rounded(found.slowest_ms),
        parts=[
            TimePartPart(name=part.name, p50=round(part.p50, DIGITS), p95=round(part.p95, DIGITS))
            for part in found.parts
        ],
        rows=worth.rows,
        lag_p50_ms=round(found.lag_p50_ms, DIGITS),
        lag_p99_ms=round(found.lag_p99_ms, DIGITS),
        void=bool(found.why_void),
        why_void=found.why_void,
        saturated=found.saturated,
        distinct=found.distinct,
        most_often=found.most_often,
        quality=worth.quality,
        machine=machine_part(run.machine, elsewhere=subject.elsewhere),
    )


def machine_part(load: MachineLoad, *, elsewhere: bool = False) -> MachineLoadPart:
    """Return what else the machine did, in numbers and words; `elsewhere` is where the store's server is not ours."""
    return MachineLoadPart(
        others=_rounded(load.others),
        steal=_rounded(load.steal),
        throttled=load.throttled,
        load_average=load.load_average,
        quiet=load.quiet,
        words=load.sentence + (ELSEWHERE if elsewhere and load.others else ""),
    )


def difference_parts(runs: Sequence[LevelRun]) -> list[TurnsDifferencePart]:
    """Return the differences of p50 and p95 of a level that two systems took part in; none of one."""
    if len(runs) < 2:
        return []
    first, second = (
        [[1000 * call.latency for call in block.calls if call.hits is not None] for block in run.blocks] for run in runs
    )
    parts = []
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        found = turns_difference(first, second, share)
        if found is None:
            continue
        level = runs[0].level
        parts.append(
            TurnsDifferencePart(
                size=runs[0].subject.size,
                kind="closed" if level.rate is None else "open",
                clients=max(level.clients),
                rate=None if level.rate is None else round(level.rate, DIGITS),
                percentile="p50" if name == "p50" else "p95",
                pairs=found.pairs,
                first=round(found.first, DIGITS),
                second=round(found.second, DIGITS),
                difference=round(found.difference, DIGITS),
                low=_rounded(found.bounds.low),
                high=_rounded(found.bounds.high),
                method=f"{found.bounds.method}; test: {found.test.method}",
                p=found.test.p,
                smallest_p=found.test.smallest_p,
            )
        )
    return parts


def call_lines(run: LevelRun) -> Iterator[str]:
    """Yield a JSON line for each call, in seconds from its block's start, and for each arrival that was skipped."""
    about = {"level": run.level.number, "side": run.subject.side, "size": run.subject.size}
    for number, block in enumerate(run.blocks, 1):
        for call in block.calls:
            row = about | {
                "block": number,
                "question_id": run.subject.requests[call.question].question.id,
                "client": call.client + 1,
                "intended": round(call.intended, 7),
                "due": round(call.due, 7),
                "started": round(call.started, 7),
                "finished": round(call.finished, 7),
            }
            told = {} if call.store_call is None else {"store_call": round(call.store_call, 7)}
            yield json.dumps(row | told | ({"failure": call.failure} if call.hits is None else {})) + "\n"
        for intended in block.skipped:
            yield json.dumps(about | {"block": number, "intended": round(intended, 7), "skipped": True}) + "\n"


def _percentile_part(found: LoadPercentile) -> LoadPercentilePart:
    return LoadPercentilePart(
        value=_rounded(found.value), low=_rounded(found.low), high=_rounded(found.high), at_least=found.at_least
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
