"""Part of `metrics.json`: the labels of a labelled set, their age and what of them could not be used."""

from __future__ import annotations

from pydantic import Field

from recallbench.results.metrics_part import MetricsPart


class LabelsPart(MetricsPart):
    """When the gold of a labelled set was last looked at."""

    dated: int
    undated: int
    oldest: str | None = Field(description="day of the oldest label, ISO 8601")
    newest: str | None
    unjudged: int = Field(
        default=0,
        exclude_if=lambda count: count == 0,
        description="queries that the judgements say nothing of, and that were passed over",
    )
    irrelevant: int = Field(
        default=0,
        exclude_if=lambda count: count == 0,
        description="queries whose judgements are all of grade 0, and that were passed over",
    )
    unanswerable: int = Field(
        default=0,
        exclude_if=lambda count: count == 0,
        description="queries whose judgements name nothing that they may be answered from, and that were passed over",
    )
    unknown_gold: int = Field(
        default=0,
        exclude_if=lambda count: count == 0,
        description="judgements of a published set that name no document which their query may be answered from",
    )
    unknown_candidates: int = Field(
        default=0,
        exclude_if=lambda count: count == 0,
        description="candidates of a published set that name no document",
    )
    unlisted: int = Field(
        default=0,
        exclude_if=lambda count: count == 0,
        description="queries without candidates in a set that has some: they may be answered from its whole corpus",
    )
