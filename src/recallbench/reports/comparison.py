"""The document of `compare --json`, and the cells of a difference in every table that shows one."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field

from recallbench.reports.cells import figure
from recallbench.reports.part import DocumentPart
from recallbench.results.matching_part import SharePart
from recallbench.scoring.paired import Paired

LEVEL = 0.05
"""A p at or below it counts as significant."""


_TOO_FEW = re.compile(r"n/a \((?P<clusters>.*): sign flips reach no p of \.05 below (?P<least>\d+)\)")
NOT_STATED = "not stated"
"""In place of a value that only the other result states."""


class DifferencePart(DocumentPart):
    """One measure on the same questions twice, second minus first."""

    measure: str
    difference: float = Field(description="second minus first, mean over questions")
    low: float | None = Field(description="lower end of its 95% interval")
    high: float | None
    method: str = Field(description="how the interval was made, or why there is none")
    p: float = Field(description="two-sided, before any correction")
    p_holm: float | None = Field(description="after Holm's correction; null for what is only secondary")
    smallest_p: float = Field(description="the least p that these questions could have reached")
    test: str
    n: int
    clusters: int = Field(description="what is flipped as a whole; n where questions are independent")
    wins: int
    ties: int
    losses: int
    detectable: float | None = Field(description="found four times in five at p < .05, before any correction")
    least: float | None = Field(description="smallest difference when one cluster is left out")
    most: float | None
    largest: float | None = Field(
        default=None, description="share of the questions that the largest cluster holds; null where none depend"
    )

    @property
    def moved(self) -> bool:
        """Whether any question has another value."""
        return bool(self.wins or self.losses)

    @property
    def corrected_p(self) -> float:
        """The p that decides: after the correction, or alone where nothing corrects it."""
        return self.p if self.p_holm is None else self.p_holm

    @property
    def excludes_0(self) -> bool:
        """Whether there is an interval, and all of it lies on one side of 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    @property
    def unit(self) -> str:
        """What is flipped as a whole."""
        return "questions" if self.least is None else "clusters"

    @property
    def words(self) -> str:
        """The difference with its interval, where it has one."""
        return signed(self.difference) + (f" ({signed_range(self.low, self.high)})" if self.low is not None else "")


class MeasuredPart(DifferencePart):
    first: float
    second: float
    role: Literal["primary", "secondary"] = Field(description="Holm corrects for the primary ones alone")
    turning: list[str] = Field(description="clusters without any one of which the sign would change")


class SidePart(DocumentPart):
    name: str = Field(description="as it was named")
    store: str = Field(description="with what of its settings is not its default; empty for a TREC run")
    version: str
    embedder: str
    verdict: str = Field(description="as the folder states it; `recallbench audit` decides it again")
    canonical: bool
    content_sha256: str = Field(description="of its manifest, or of the run file")
    altered: bool = Field(
        default=False, exclude_if=lambda altered: not altered, description="its files are not as its manifest says"
    )
    shares: list[SharePart] = Field(
        default=[],
        exclude_if=lambda shares: not shares,
        description="of gold that was matched in steps (hybrid): how many questions each step decided",
    )


class UnlikePart(DocumentPart):
    what: str
    first: str
    second: str


class HitPart(DocumentPart):
    rank: int
    id: str
    gold: bool
    text: str = Field(description="empty where neither the corpus file is at hand nor the rows carry text")


class ChangedPart(DocumentPart):
    question_id: str
    kind: str
    cluster: str
    question: str = Field(description="empty where neither the corpus file is at hand nor the rows carry text")
    values: dict[str, tuple[float, float]] = Field(description="what the question gets in each, by measure")
    gold: list[str]
    first: list[HitPart]
    second: list[HitPart]


class ConditionPart(DocumentPart):
    condition: str
    measure: str
    threshold: float
    low: float | None = Field(description="lower end of the drop's 95% interval, first minus second")
    high: float | None
    outcome: Literal["passes", "fails", "inconclusive"]
    reason: str

    @property
    def text(self) -> str:
        """Return the outcome in a line."""
        return f"{self.outcome}: {self.condition}: {self.reason}"


class Comparison(DocumentPart):
    """A and B on the same questions."""

    schema_version: Literal["1"]
    recallbench_version: str
    first: SidePart
    second: SidePart
    basis: list[str] = Field(description="what both have in common, a line each")
    unlike: list[UnlikePart] = Field(description="in what the two systems differ")
    n: int = Field(description="questions counted: those with gold")
    clusters: int | None = Field(description="null where questions are independent")
    identical: bool = Field(description="the same segments at the same places for every question")
    measures: list[MeasuredPart]
    kinds: dict[str, list[MeasuredPart]] = Field(description="all secondary; empty where questions have no kinds")
    abilities: dict[str, list[MeasuredPart]] = Field(
        default={}, description="the kinds rolled up, where the corpus' paper names abilities; all secondary"
    )
    changed: list[ChangedPart] = Field(description="the questions that changed most, most first")
    conditions: list[ConditionPart]
    regressions: list[str] = Field(description="primary measures that fell, at a corrected p of at most .05")
    warnings: list[str]
    notes: list[str]


def difference_fields(measure: str, pair: Paired, adjusted: float | None) -> dict[str, Any]:
    """Return the fields of a `DifferencePart`; `adjusted` is the p after Holm's correction."""
    counts = ("n", "clusters", "wins", "ties", "losses")
    figures = ("difference", "low", "high", "detectable", "least", "most", "largest")
    values = {name: getattr(pair, name) for name in figures}
    return {
        "measure": measure,
        # The last digits may differ from one processor to the next.
        **{name: None if value is None else round(value, 10) for name, value in values.items()},
        "method": pair.method,
        "p": pair.test.p,
        "p_holm": adjusted,
        "smallest_p": pair.test.smallest_p,
        "test": pair.test.method,
        **{name: getattr(pair, name) for name in counts},
    }


DIFFERENCE_HEADER = (
    "difference",
    "95% interval",
    "p",
    "p (Holm)",
    "smallest p",
    "win/tie/loss",
    "detectable",
    "one left out",
)


def difference_cells(part: DifferencePart) -> list[str]:
    """Return the cells below `DIFFERENCE_HEADER`; * marks a corrected p of at most .05."""
    holm = "–" if part.p_holm is None else p_text(part.p_holm) + (" *" if part.p_holm <= LEVEL else "")
    return [
        signed(part.difference),
        signed_range(part.low, part.high),
        p_text(part.p),
        holm,
        p_text(part.smallest_p),
        f"{part.wins}/{part.ties}/{part.losses}",
        figure(part.detectable),
        signed_range(part.least, part.most),
    ]


def why_no_interval(method: str) -> str:
    """Return in words why there is no interval, by what stands in place of its method."""
    if few := _TOO_FEW.fullmatch(method):
        verb = "is" if few["clusters"] == "one cluster" else "are"
        return f"{few['clusters']} {verb} too few ({few['least']} are needed)"
    return method.removeprefix("n/a (").removesuffix(")")


def signed(value: float) -> str:
    """Return a difference with its sign; 0 has none."""
    return f"{value:+.4f}" if round(value, 4) else "0.0000" if value == 0 else f"{value:+.1e}"


def signed_range(low: float | None, high: float | None) -> str:
    """Return the lowest and the highest difference, or a dash."""
    return "–" if low is None or high is None else f"{signed(low)} to {signed(high)}"


def p_text(p: float) -> str:
    """Return a p with four digits, a small one in powers of ten."""
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"
