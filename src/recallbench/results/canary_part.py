"""What a result over a canary of one's own says of it: how far its mean may be quoted, and when it is stale."""

from __future__ import annotations

from pydantic import Field

from recallbench.corpora.labelled_sets.canary_record import CanaryRecord, staleness
from recallbench.results.metrics_part import MetricsPart
from recallbench.scoring.planning.proportion import NEAR, stated_proportion

_WITHIN = 1e-3
"""Questions by which what is written down may be rounded."""


class CanaryPart(MetricsPart):
    """The canary whose questions were asked."""

    record_sha256: str = Field(description="of its canary.json")
    drawn: str = Field(description="the day of the draw, ISO 8601")
    stale_after: str | None = Field(description="as it was stated; null where nothing was")
    stale_on: str | None = Field(description="the first day on which it is stale; null where none is stated")
    bias: float = Field(description="the most by which a plain mean may miss that of production's mix")
    proportional: bool = Field(description="whether a plain mean may be quoted as that of production's mix")
    uncovered: float = Field(description="the share of production that the set has no question for")
    hard: float = Field(description="the share of hard questions")
    hard_in_production: float

    def staleness(self, today: str) -> str:
        """Return why it is stale on a day by its age; empty while it is fresh."""
        return staleness(self.drawn, self.stale_after, self.stale_on, today)


def canary_part(drawn_from: tuple[CanaryRecord, str] | None) -> CanaryPart | None:
    """Return what is said of a canary; None for any other set."""
    if drawn_from is None:
        return None
    record, sha256 = drawn_from
    after = record.stale_after
    found = stated_proportion(record.strata)
    return CanaryPart(
        record_sha256=sha256,
        drawn=record.drawn,
        stale_after=None if after is None else after.stated,
        stale_on=None if after is None else after.on,
        # The more cautious of what is stated and what the strata tell: an edited record promises nothing more.
        bias=record.bias if found.bias <= record.bias + NEAR else round(found.bias, 4),
        proportional=record.proportional and found.off < 1 + _WITHIN,
        uncovered=record.uncovered,
        hard=record.hard.drawn,
        hard_in_production=record.hard.production,
    )
