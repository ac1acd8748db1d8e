"""Part of `metrics.json`: the labels of a labelled set, their age and what of them could not be used."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from recallbench.results.metrics_part import MetricsPart


def _passed_over(description: str) -> Any:
    """Declare a count that is written where it is not 0."""
    return Field(default=0, exclude_if=lambda count: count == 0, description=description)


class LabelsPart(MetricsPart):
    """The labels of a labelled set: how old they are, and what of them was passed over."""

    dated: int
    undated: int
    oldest: str | None = Field(description="day of the oldest label, ISO 8601")
    newest: str | None
    unjudged: int = _passed_over("queries that the judgements say nothing of")
    irrelevant: int = _passed_over("queries whose judgements are all of grade 0")
    unanswerable: int = _passed_over("queries whose judgements name nothing that they may be answered from")
    unknown_gold: int = _passed_over(
        "judgements of a published set that name no document which their query may be answered from"
    )
    unknown_candidates: int = _passed_over("candidates of a published set that name no document")
    unlisted: int = _passed_over(
        "queries without candidates in a set that has some: they may be answered from its whole corpus"
    )
