"""`matrix.md`, the whole matrix for a reader, and what `matrix` prints."""

from __future__ import annotations

from pathlib import Path

from recallbench.escaping.markdown import headed, inline, opening
from recallbench.escaping.web import html
from recallbench.reports.matrix.conclusion import conclusion
from recallbench.reports.matrix.document import CELLS, MARKDOWN, PAIRS, PICTURE, MatrixDocument
from recallbench.reports.matrix.picture import describe, draw
from recallbench.reports.matrix.tables import CAPTIONS, cell_sheet, cell_table, pair_table, together_table
from recallbench.reports.matrix.words import asked, failures, notes, title
from recallbench.reports.page import Page, captioned, listing
from recallbench.reports.printing.printed import Printed
from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.reports.table import Part, Table
from recallbench.results.study_folder import MATRIX


def page(matrix: MatrixDocument) -> str:
    """Return the matrix as Markdown, what follows from it first."""
    return headed(title(matrix), [opening(str(conclusion(matrix))), "", *_sections(matrix)])


def printed(
    matrix: MatrixDocument, folder: Path, command: TypedCommand | None = None, *, has_cells: bool = True
) -> Printed:
    """Return what `recallbench matrix` prints: the tables each below its caption, and what follows as the last line.

    `command` measured the cells; it is left out where they were only shown.
    """
    lines: list[Part] = [title(matrix), ""]
    for part in _parts(matrix):
        lines += [part] if isinstance(part, str) else [part, ""]
    return Printed(
        title(matrix),
        [*lines, *failures(matrix), *notes(matrix), f"page: {folder / MARKDOWN}"],
        matrix.model_dump(mode="json"),
        conclusion(matrix, folder if has_cells else None, command),
        own_markdown=headed(title(matrix), _sections(matrix)),
        own_page=Page(title(matrix), _body(matrix)).html(),
        own_sheet=cell_sheet(matrix),
    )


def _sections(matrix: MatrixDocument) -> list[str]:
    lines = []
    for part in _parts(matrix):
        if isinstance(part, Table):
            lines += [*part.markdown(), ""]
        else:
            lines += [f"## {inline(part)}", ""]
    if draw(matrix) is not None:
        lines += ["## Picture", "", f"![{inline(describe(matrix))}]({PICTURE})", ""]
    if failed := failures(matrix):
        lines += ["## Failed", "", *(f"- {opening(line)}" for line in failed), ""]
    lines += ["## How to read it", "", *(f"- {opening(note)}" for note in notes(matrix)), ""]
    return [*lines, f"{CELLS} has every cell, {PAIRS} every paired test, {MATRIX} all of it.", ""]


def _body(matrix: MatrixDocument) -> list[str]:
    plot = draw(matrix)
    lines = [] if plot is None else captioned(plot.element(), "The tables below have the same figures.")
    for part in _parts(matrix):
        lines += part.html() if isinstance(part, Table) else [f"<h2>{html(part)}</h2>"]
    return [*lines, *listing(failures(matrix)), *listing(notes(matrix))]


def _parts(matrix: MatrixDocument) -> list[str | Table]:
    """Return captions and tables, in the order of the page."""
    parts: list[str | Table] = []
    for corpus in matrix.corpora:
        if any(not cell.failure for cell in matrix.of_corpus(corpus.name)):
            parts += [asked(corpus), cell_table(matrix, corpus)]
    if matrix.together:
        table = together_table(matrix)
        parts += [table.caption, table]
    for family in CAPTIONS:
        compared = pair_table(matrix, family)
        if compared is not None:
            parts += [compared.caption, compared]
    return parts
