"""How far the figures of a point move when it is asked again: as a table and a sheet."""

from __future__ import annotations

from collections.abc import Mapping

from recallbench.escaping.sheet import csv_text
from recallbench.reports.table import Table
from recallbench.results.sweep.document import SweepDocument
from recallbench.results.sweep.stability_part import RepeatedFigurePart

STEM = "stability"


def stability_table(document: SweepDocument) -> Table | None:
    """Return a row for each figure of each point; None where nothing was asked again."""
    part = document.stability
    if part is None:
        return None
    columns = ["point", "figure", "mean", "sd over repeats", "sd over seeds", "least", "most", "runs"]
    rows = [
        [
            spread.point,
            spread.figure,
            _told(spread, spread.mean),
            _told(spread, spread.over_repeats),
            _told(spread, spread.over_seeds),
            _told(spread, spread.least),
            _told(spread, spread.most),
            str(sum(map(len, spread.runs))),
        ]
        for spread in part.spreads
    ]
    return Table(columns, rows, caption="Asked again", left=["point", "figure"])


def stability_notes(document: SweepDocument) -> list[str]:
    """Return what was done again and how to read it, a sentence each."""
    part = document.stability
    if part is None:
        return []
    given = [f"{stage} of {point}" for point, stages in part.seeded.items() for stage in stages]
    seeded = f" and is given to {', '.join(given)}" if given else ""
    times = f"{part.seeds} seed{'' if part.seeds == 1 else 's'}, {part.repeats} time{'' if part.repeats == 1 else 's'}"
    return [
        f"Asked again with {times} each, all {part.questions:,} questions, every time from a store that was opened and "
        f"filled anew. A seed decides in which order haystacks are filled and questions asked{seeded}.",
        *(
            ["A measure that does not move at all has sd 0: its store ranks alike however it is filled."]
            * _still(document)
        ),
        *(["One run with each seed says nothing of repeats: --repeats 2."] if part.repeats == 1 else []),
        *(f"Failed: {failure}" for failure in part.failures),
    ]


def files(document: SweepDocument) -> Mapping[str, str]:
    """Return every run of every figure as a sheet, by its name."""
    if document.stability is None:
        return {}
    rows = [
        [spread.point, spread.figure, str(seed), str(repeat), str(value)]
        for spread in document.stability.spreads
        for seed, runs in enumerate(spread.runs, 1)
        for repeat, value in enumerate(runs, 1)
    ]
    return {f"{STEM}.csv": csv_text([["point", "figure", "seed", "repeat", "value"], *rows])}


def _still(document: SweepDocument) -> bool:
    """Return whether the measure of some point came out the same in every run."""
    spreads = document.stability.spreads if document.stability is not None else []
    return any(spread.least == spread.most for spread in spreads if "@" in spread.figure)


def _told(spread: RepeatedFigurePart, value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}" if "@" in spread.figure else f"{value:.3f}"
