"""What a stage costs a question, and further columns of the stage table with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from recallbench.reports.cells import figure
from recallbench.reports.part import DocumentPart
from recallbench.results.costs.quantities import read_stage_quantities
from recallbench.results.latency import stage_latencies
from recallbench.results.pipeline_part import PipelinePart
from recallbench.scoring.costs import CostLine, Prices
from recallbench.usage import Usage

Beside = Mapping[str, Mapping[str, str]]
"""By heading, the cell of each stage by its name; a heading of which nothing is known is left out."""
READING = {
    "added": "added p50 and p95: milliseconds of the stage's own work in a warm query, of those timed one by one.",
    "tokens": "tokens: all that an endpoint counted for the stage's answers, when they were asked for.",
}


class StageCostPart(DocumentPart):
    timed: int = Field(description="warm queries that were timed, one by one")
    p50_ms: float | None = Field(description="what the stage adds to a query, nearest rank; null where none was timed")
    p95_ms: float | None
    tokens: Usage = Field(description="that an endpoint counted for it, over all questions")
    price: float | None = Field(description="of these tokens for 1,000 questions, an estimate; null without a price")


def stage_costs(
    folder: Path, pipeline: PipelinePart, asked: int, prices: Prices | None = None
) -> dict[str, StageCostPart]:
    """Return the costs of each stage of a result; raises InputError where it tells of times or tokens that can't be."""
    times = {latency.stage: latency for latency in stage_latencies(folder, "warm")}
    used = {each.stage: each.tokens for each in read_stage_quantities(folder)}
    costs = {}
    for stage in pipeline.stages:
        timed, tokens = times.get(stage.name), used.get(stage.name, Usage())
        p50, p95 = (None, None) if timed is None else (part.value for part in timed.percentiles()[:2])
        line = CostLine(stage.name, tokens, "tokens", stage.settings.get("model", stage.method))
        price = None if prices is None or tokens == Usage() else line.price(prices)
        costs[stage.name] = StageCostPart(
            timed=0 if timed is None else timed.n,
            p50_ms=p50,
            p95_ms=p95,
            tokens=tokens,
            price=None if price is None else round(1000 * price / asked, 10),
        )
    return costs


def columns(costs: Mapping[str, StageCostPart], currency: str = "") -> Beside:
    """Return the costs as columns, those of which anything is known."""
    cells: dict[str, dict[str, str]] = {}
    for stage, cost in costs.items():
        known = {
            "added p50 ms": None if cost.p50_ms is None else figure(cost.p50_ms, 3),
            "added p95 ms": None if cost.p95_ms is None else figure(cost.p95_ms, 3),
            "tokens in": f"{cost.tokens.prompt:,}" if cost.tokens != Usage() else None,
            "tokens out": f"{cost.tokens.output:,}" if cost.tokens != Usage() else None,
            f"{currency} per 1,000": None if cost.price is None else figure(cost.price),
        }
        for heading, cell in known.items():
            if cell is not None:
                cells.setdefault(heading, {})[stage] = cell
    return cells


def reading(beside: Beside) -> list[str]:
    """Return how the columns are read."""
    return [words for start, words in READING.items() if any(heading.startswith(start) for heading in beside)]
