"""Recall gained and precision lost by a larger k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recallbench.cases.case import count
from recallbench.cases.definitions import USUAL, Definitions
from recallbench.cases.scores import CaseScores
from recallbench.errors import UsageError
from recallbench.reports.display import Display
from recallbench.reports.panel import LINE, SECOND, THIRD, Axis, Panel, Shape
from recallbench.reports.plot import Plot
from recallbench.reports.table import Part, Table
from recallbench.scoring.depth import depth_of

COLUMNS = ("recall", "precision", "f1", "f1_of_means")
CURVES: tuple[tuple[str, str, Shape, str, str], ...] = (
    ("recall", "recall_frac", "circle", "solid", LINE),
    ("precision", "precision", "square", "solid", SECOND),
    ("f1", "f1", "triangle", "dashed", THIRD),
)
"""Short name, field of a point, its shape, the dashes of its line, and the colour."""


@dataclass(frozen=True, slots=True)
class Point:
    """The means at one k."""

    k: int
    recall_frac: float
    precision: float
    f1: float
    f1_of_means: float


@dataclass(frozen=True, slots=True, repr=False)
class Tradeoff(Display):
    """A report over several k."""

    points: tuple[Point, ...]
    matching: str
    n: int
    definitions: Definitions = USUAL

    def name(self, short: str, k: int | str = "k") -> str:
        """Return the exact name of a short one, at a k or at any."""
        return str(self.definitions.measure(short, 1)).replace("@1", f"@{k}", 1)

    @property
    def best(self) -> Point:
        """Return the k with the highest f1@k; of equal ones the smallest."""
        return max(self.points, key=lambda point: (round(point.f1, 12), -point.k))

    def displayed(self) -> list[Part | Plot]:
        """Return the table, its sentence and the plot."""
        return [self.table(), self.sentence(), self.plot()]

    def plot(self) -> Plot:
        """Return precision, recall and F1 against k, drawn: a notebook shows it, `save("ks.svg")` writes it."""
        ks = [point.k for point in self.points]
        title = f"{count(self.n)}, matching: {self.matching}"
        panel = Panel(title, Axis("k", ticks=[(k, str(k)) for k in ks], logarithmic=True), Axis(low=0.0, high=1.02))
        for name, field, shape, dash, colour in CURVES:
            values = [getattr(point, field) for point in self.points]
            panel.line(ks, values, colour, self.name(name), shape, dash)
        panel.upright(self.best.k, f"best {self.name('f1')}: k = {self.best.k}")
        return Plot(title, 620, 300, [panel], f"{self.sentence()}.")

    def table(self) -> Table:
        """Return a row for each k; * marks the best f1."""
        rows = [
            (
                str(point.k),
                *(f"{x:.4f}" for x in (point.recall_frac, point.precision, point.f1, point.f1_of_means)),
                "*" if point is self.best else "",
            )
            for point in self.points
        ]
        return Table(("k", *map(self.name, COLUMNS), ""), rows, left=("k",))

    def sentence(self) -> str:
        """Say which k is best, in a sentence."""
        best = self.best
        f1 = f"{self.name('f1')} (mean of per-query F1)"
        return f"k = {best.k} has the highest {f1}, {best.f1:.4f}, over {count(self.n)}"

    def document(self) -> dict[str, Any]:
        """Return the document for machines."""
        return {
            "matching": self.matching,
            "points": [
                {
                    "k": point.k,
                    self.name("recall", point.k): point.recall_frac,
                    self.name("precision", point.k): point.precision,
                    self.name("f1", point.k): point.f1,
                    self.name("f1_of_means", point.k): point.f1_of_means,
                }
                for point in self.points
            ],
            "best_k_by_f1": self.best.k,
        }


def tradeoff(report: CaseScores, ks: Sequence[int]) -> Tradeoff:
    """Return the means at each k; raises UsageError for no k, and for one beyond the rankings."""
    if not ks:
        raise UsageError("no depths to look at", expected="whole numbers, as 1,3,5,10,20", found=repr(ks))
    for k in ks:
        depth_of(k, "no depth to look at")
    if report.n == 0:
        raise UsageError("no case has anything to find", expected="one case with something relevant", found="none")
    return Tradeoff(
        tuple(
            Point(k, *(report.value(report.definitions.measure(name, k)) for name in COLUMNS)) for k in sorted(set(ks))
        ),
        str(report.matching),
        report.n,
        report.definitions,
    )
