"""`matrix.md`: the whole matrix for a reader."""

from __future__ import annotations

from recallbench.escaping.markdown import inline, opening
from recallbench.reports.matrix.document import CELLS, PAIRS, PICTURE, MatrixDocument
from recallbench.reports.matrix.picture import describe, draw
from recallbench.reports.matrix.tables import CAPTIONS, cell_table, pair_table, together_table
from recallbench.reports.matrix.words import asked, conclusion, failures, notes, title
from recallbench.reports.table import Part, Table
from recallbench.results.study_folder import MATRIX


def page(matrix: MatrixDocument) -> str:
    """Return the matrix as Markdown."""
    lines = [f"# {inline(title(matrix))}", "", opening(conclusion(matrix)), ""]
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
    lines += [f"{CELLS} has every cell, {PAIRS} every paired test, {MATRIX} all of it.", ""]
    return "\n".join(lines)


def printed(matrix: MatrixDocument) -> list[Part]:
    """Return the matrix as a terminal shows it: its title, the tables each below its caption, and how to read them."""
    lines: list[Part] = [title(matrix), ""]
    for part in _parts(matrix):
        lines += [part] if isinstance(part, str) else [part, ""]
    return [*lines, *failures(matrix), *notes(matrix)]


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
