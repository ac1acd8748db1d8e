"""How much of its haystack a question could see, in a result."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from recallbench.results.metrics_part import MetricsPart

Way = Literal["filtered", "replayed", "ignored"]


class VisiblePart(MetricsPart):
    """What a question may be answered from, where that is what was said before it."""

    way: Way = Field(
        description="filtered by the store; replayed, so that it held no more; or ignored, so that all was to be found"
    )
    visible: float = Field(description="segments that a question could be answered from, on average")
    planted: int = Field(
        default=0,
        exclude_if=lambda count: count == 0,
        description="questions behind which, in a pass before, a session was planted that repeats them word by word: "
        "none came back, else there would be no result",
    )
    haystack: float = Field(description="segments of a haystack, on average")
