"""What a stage costs a question: further columns of the stage table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from recallbench.reports.cells import figure
from recallbench.results.costs.quantities import StageQuantities, read_stage_quantities
from recallbench.results.latency import StageLatency, stage_latencies

Beside = Mapping[str, Mapping[str, str]]
"""By heading, the cell of each stage by its name; a heading of which nothing is known is left out."""
READING = (
    "added p50 and p95: milliseconds of this stage's own work in a warm query, of those that were timed one by one.",
    "tokens: all that a model's endpoint counted for the stage, when its answers were asked for.",
)


def beside_of(folder: Path) -> dict[str, dict[str, str]]:
    """Return the columns of a result; raises InputError where it tells of times or tokens that can't be."""
    return beside(stage_latencies(folder, "warm"), read_stage_quantities(folder))


def beside(latencies: Iterable[StageLatency], used: Sequence[StageQuantities]) -> dict[str, dict[str, str]]:
    """Return the columns of the warm latencies, of which one without a stage is passed over, and of what was used."""
    columns: dict[str, dict[str, str]] = {}
    for latency in latencies:
        if latency.stage:
            for percentile in latency.percentiles()[:2]:
                heading = f"added p{100 * percentile.share:.0f} ms"
                columns.setdefault(heading, {})[latency.stage] = figure(percentile.value, 3)
    for each in used:
        if each.tokens.prompt or each.tokens.output:
            columns.setdefault("tokens in", {})[each.stage] = f"{each.tokens.prompt:,}"
            columns.setdefault("tokens out", {})[each.stage] = f"{each.tokens.output:,}"
    return columns


def reading(columns: Beside) -> list[str]:
    """Return how the columns are read."""
    return [line for line in READING if any(heading.startswith(line.split()[0].rstrip(":")) for heading in columns)]
