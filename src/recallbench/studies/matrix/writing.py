"""The folder of a matrix."""

from __future__ import annotations

from pathlib import Path

from recallbench.reports.matrix.document import CELLS, MARKDOWN, PAIRS, PICTURE, MatrixDocument
from recallbench.reports.matrix.page import page
from recallbench.reports.matrix.picture import draw
from recallbench.reports.matrix.tables import cell_sheet, pair_sheet
from recallbench.results import manifest
from recallbench.results.folder import staged
from recallbench.results.study_folder import MATRIX
from recallbench.runs.writing import write_lines


def write_matrix(folder: Path, document: MatrixDocument) -> Path:
    """Write the folder of a matrix, whole or not at all, and return it."""
    with staged(folder, explicit=False) as draft:
        write_lines(draft.temporary / MATRIX, [document.model_dump_json(indent=1), "\n"])
        write_lines(draft.temporary / CELLS, [cell_sheet(document).csv()])
        write_lines(draft.temporary / PAIRS, [pair_sheet(document)])
        if (plot := draw(document)) is not None:
            write_lines(draft.temporary / PICTURE, [plot.picture()])
        write_lines(draft.temporary / MARKDOWN, [page(document)])
        write_lines(draft.temporary / manifest.NAME, [manifest.build(draft.temporary)])
    return draft.folder
