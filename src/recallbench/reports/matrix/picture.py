"""The picture of a matrix: what each encoder finds against the processor seconds that it takes, corpus by corpus."""

from __future__ import annotations

from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.reports.matrix.document import BM25, MatrixCorpusPart, MatrixDocument
from recallbench.reports.matrix.words import title
from recallbench.reports.panel import INK, LINE, Axis, Panel, price_axis
from recallbench.reports.plot import Plot
from recallbench.results.metrics import EstimatePart

WIDTH, HEIGHT = 720, 230
SECONDS = "seconds of processors for 1,000 segments"


def draw(matrix: MatrixDocument) -> Plot | None:
    """Return the plot, a panel for each corpus; None where no encoder was timed."""
    panels = [_panel(matrix, corpus) for corpus in matrix.corpora if _timed(matrix, corpus)]
    return Plot(title(matrix), WIDTH, HEIGHT, panels, describe(matrix)) if panels else None


def describe(matrix: MatrixDocument) -> str:
    """Return the values of the plot in words."""
    told = [
        f"{plain_names(corpus.name)}: "
        + ", ".join(f"{name} {estimate.value:.4f} at {paid:.3g} s" for name, paid, estimate in _timed(matrix, corpus))
        for corpus in matrix.corpora
    ]
    return f"{matrix.measures[0]} by {SECONDS}. {'; '.join(told)}."


def _timed(matrix: MatrixDocument, corpus: MatrixCorpusPart) -> list[tuple[str, float, EstimatePart]]:
    """Return the encoders that were timed on a corpus, with their seconds and what they find."""
    found = []
    for cell in matrix.of_corpus(corpus.name):
        estimate, effort = cell.estimate(matrix.measures[0]), cell.effort
        if estimate is not None and estimate.value is not None and effort is not None and effort.per_1000:
            found.append((cell.encoder, effort.per_1000, estimate))
    return found


def _panel(matrix: MatrixDocument, corpus: MatrixCorpusPart) -> Panel:
    timed = _timed(matrix, corpus)
    names, seconds, estimates = [list(column) for column in zip(*timed, strict=True)]
    values = [estimate.value or 0.0 for _, _, estimate in timed]
    panel = Panel(
        f"{plain_names(corpus.name)}: {matrix.measures[0]}",
        x=price_axis(SECONDS, [paid for _, paid, _ in timed]),
        y=Axis(),
    )
    panel.intervals(seconds, estimates)
    panel.line(seconds, values, LINE, "an encoder", dash="none")
    panel.names(seconds, values, names)
    control = next((e.value for e in corpus.bm25 if e.measure == matrix.measures[0]), None)
    if control is not None:
        panel.across(control, BM25, INK)
    if (chance := timed[0][2].chance) is not None:
        panel.across(chance, "chance", INK, "dotted")
    return panel
