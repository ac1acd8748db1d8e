"""The check of a canary as a JSON document and in words: whether it is fresh, and its figure at production's mix."""

from __future__ import annotations

from pydantic import Field

from recallbench.escaping.shell import command
from recallbench.reports.part import DocumentPart
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.table import Part, Table


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
    """Return a line for each reason, and the weighted figures."""
    lines: list[Part] = [f"{part.what}: {_WORDS[part.stale]}: {part.reason}" for part in check.reasons]
    for part in check.weighted:
        between = "" if part.low is None or part.high is None else f" ({part.low:.4f} to {part.high:.4f})"
        why = "" if between else f" ({part.method})"
        lines.append(
            f"{part.measure} at production's mix: {part.value:.4f}{between or why}; the plain mean is {part.plain:.4f}"
        )
    if check.weighted:
        lines.append("these intervals are of the draw: the shares of kinds and tenants are taken as known")
    return lines


def check_table(check: CanaryCheck) -> Table:
    """Return a row for each thing that can make it stale."""
    rows = [(part.what, _WORDS[part.stale], part.reason) for part in check.reasons]
    return Table(("what", "is", "reason"), rows)


def conclusion(check: CanaryCheck) -> Conclusion:
    """Return whether the canary still stands for production, and what to do."""
    if check.stale:
        why = ", ".join(part.what for part in check.reasons if part.stale)
        then = f"draw it anew: {command('canary', check.canary, '--refresh', '--folder', 'NEW')}"
        return Conclusion(f"{check.canary} is stale, by its {why}", "", then, tone="bad")
    untold = [part.what for part in check.reasons if part.stale is None]
    more = f"nothing tells of its {' and '.join(untold)}" if untold else ""
    then = f"go on measuring it: {command('evaluate', check.canary)}"
    return Conclusion(f"{check.canary} is fresh", more, then, tone="open" if untold else "good")


_WORDS = {True: "stale", False: "fresh", None: "can't tell"}
