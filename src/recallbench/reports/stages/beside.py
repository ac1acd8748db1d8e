"""What a stage costs a question, and further columns of the stage table with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from recallbench.reports.cells import figure
from recallbench.reports.part import DocumentPart
from recallbench.results.costs.prices import recorded_prices
from recallbench.results.costs.quantities import read_stage_quantities
from recallbench.results.latency import stage_latencies
from recallbench.results.pipeline_part import PipelinePart, StagePart
from recallbench.scoring.costs import CostLine, Prices
from recallbench.usage import Usage

Beside = Mapping[str, Mapping[str, str]]
"""By heading, the cell of each stage by its name; a heading of which nothing is known is left out."""
READING = {
    "added": "added p50 and p95: milliseconds of the stage's own work in a warm query, of those timed one by one; they "
    "differ from run to run.",
    "tokens": "tokens: all that an endpoint counted for the stage's answers, when they were asked for.",
}


class StageCostPart(DocumentPart):
    timed: int = Field(description="warm queries that were timed, one by one")
    p50_ms: float | None = Field(description="what the stage adds to a query, nearest rank; null where none was timed")
    p95_ms: float | None
    tokens: Usage = Field(description="that an endpoint counted for it, over all questions")
    price: float | None = Field(description="of these tokens for 1,000 questions, an estimate; null without a price")


@dataclass(frozen=True, slots=True)
class StageCosts:
    """What each stage of a result costs, at the prices of a day."""

    pipeline: PipelinePart
    parts: Mapping[str, StageCostPart]
    """By stage."""
    currency: str
    priced: str
    """The day of the prices, and whose they are; empty where there are none."""

    @property
    def beside(self) -> Beside:
        """The costs as columns, those of which anything is known."""
        cells: dict[str, dict[str, str]] = {}
        for stage, cost in self.parts.items():
            known = {
                "added p50 ms": None if cost.p50_ms is None else figure(cost.p50_ms, 3),
                "added p95 ms": None if cost.p95_ms is None else figure(cost.p95_ms, 3),
                "tokens in": f"{cost.tokens.prompt:,}" if cost.tokens != Usage() else None,
                "tokens out": f"{cost.tokens.output:,}" if cost.tokens != Usage() else None,
                f"{self.currency} per 1,000": None if cost.price is None else figure(cost.price),
            }
            for heading, cell in known.items():
                if cell is not None:
                    cells.setdefault(heading, {})[stage] = cell
        return cells

    def reading(self) -> list[str]:
        """Return how the columns are read, a sentence each."""
        told = [words for start, words in READING.items() if any(heading.startswith(start) for heading in self.beside)]
        return [*told, *self._prices()]

    def _prices(self) -> Iterator[str]:
        if any(cost.price is not None for cost in self.parts.values()):
            yield (
                f"{self.currency} per 1,000: an estimate of what these tokens cost for 1,000 questions; prices of "
                f"{self.priced}."
            )
        for stage in self.pipeline.stages:
            cost = self.parts[stage.name]
            if cost.tokens != Usage() and cost.price is None:
                listed = f"no price among those of {self.priced}" if self.priced else "no price"
                yield f"no price of {stage.name}: its model, {model_of(stage) or 'without a name'}, has {listed}."


def model_of(stage: StagePart) -> str:
    """Return the name of the model that a stage asked, as it stated it; else what the stage is."""
    return stage.settings.get("model", stage.method)


def stage_costs(folder: Path, pipeline: PipelinePart, asked: int, prices: Prices | None = None) -> StageCosts:
    """Return the costs of each stage of a result, at its own prices where none are given.

    Raises InputError where it tells of times, tokens or prices that can't be.
    """
    times = {latency.stage: latency for latency in stage_latencies(folder, "warm")}
    used = {each.stage: each.tokens for each in read_stage_quantities(folder)}
    prices = recorded_prices(folder) if prices is None else prices
    costs = {}
    for stage in pipeline.stages:
        timed, tokens = times.get(stage.name), used.get(stage.name, Usage())
        p50, p95 = (None, None) if timed is None else (part.value for part in timed.percentiles()[:2])
        line = CostLine(stage.name, tokens, "tokens", model_of(stage))
        price = None if prices is None or tokens == Usage() else line.price(prices)
        costs[stage.name] = StageCostPart(
            timed=0 if timed is None else timed.n,
            p50_ms=p50,
            p95_ms=p95,
            tokens=tokens,
            price=None if price is None else round(1000 * price / asked, 10),
        )
    named = ("", "") if prices is None else (prices.currency, f"{prices.date}, {prices.source}")
    return StageCosts(pipeline, costs, *named)
