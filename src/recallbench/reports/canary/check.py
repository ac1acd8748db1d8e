"""The check of a canary as a JSON document and in words: whether it is fresh, and its figure at production's mix."""

from __future__ import annotations

from pydantic import Field

from recallbench.reports.part import DocumentPart
from recallbench.reports.table import Part


class StalenessPart(DocumentPart):
    """One thing that can make a canary stale."""

    what: str
    stale: bool | None = Field(description="null where it can't be told")
    reason: str


class WeightedPart(DocumentPart):
    """A measure of a result over the canary, each question with the weight that it has in production's mix."""

    measure: str
    plain: float
    value: float
    low: float | None
    high: float | None
    method: str


class CanaryCheck(DocumentPart):
    """Whether a canary is fresh."""

    schema_version: str
    canary: str
    drawn: str
    today: str
    stale: bool
    reasons: list[StalenessPart]
    result: str | None = Field(description="the folder whose figures are given at production's mix")
    weighted: list[WeightedPart]


def check_lines(check: CanaryCheck) -> list[Part]:
    """Return a line for each reason, the weighted figures, and the verdict."""
    words = {True: "stale", False: "fresh", None: "can't tell"}
    lines: list[Part] = [f"{part.what}: {words[part.stale]}: {part.reason}" for part in check.reasons]
    for part in check.weighted:
        between = "" if part.low is None or part.high is None else f" ({part.low:.4f} to {part.high:.4f})"
        why = "" if between else f" ({part.method})"
        lines.append(
            f"{part.measure} at production's mix: {part.value:.4f}{between or why}; the plain mean is {part.plain:.4f}"
        )
    if check.weighted:
        lines.append("these intervals are of the draw: the shares of kinds and tenants are taken as known")
    if check.stale:
        return [*lines, f"{check.canary} is stale: draw it anew with `recallbench canary DIR --refresh --out NEW`"]
    untold = [part.what for part in check.reasons if part.stale is None]
    more = f"; nothing tells of its {' and '.join(untold)}" if untold else ""
    return [*lines, f"{check.canary} is fresh{more}: go on measuring it, recallbench evaluate {check.canary}"]
