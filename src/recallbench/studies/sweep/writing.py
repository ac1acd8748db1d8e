"""The folder of a sweep."""

from __future__ import annotations

from pathlib import Path

from recallbench.reports.sweep import picture, sensitivity, stability
from recallbench.reports.sweep.page import page, web_page
from recallbench.reports.sweep.slices import slice_sheet
from recallbench.reports.sweep.tables import point_sheet
from recallbench.results import manifest
from recallbench.results.folder import staged
from recallbench.results.sweep.document import NAME, PAGE, POINTS, REPORT, SLICES, SweepDocument
from recallbench.runs.writing import write_lines


def write_sweep(folder: Path, document: SweepDocument) -> Path:
    """Write the folder of a sweep, whole or not at all, and return it."""
    with staged(folder, explicit=False) as draft:
        write_lines(draft.temporary / NAME, [document.model_dump_json(indent=1), "\n"])
        write_lines(draft.temporary / POINTS, [point_sheet(document).csv()])
        write_lines(draft.temporary / SLICES, [slice_sheet(document)])
        for name, text in {
            **picture.files(document),
            **sensitivity.files(document),
            **stability.files(document),
        }.items():
            write_lines(draft.temporary / name, [text])
        write_lines(draft.temporary / REPORT, [page(document)])
        write_lines(draft.temporary / PAGE, [web_page(document)])
        write_lines(draft.temporary / manifest.NAME, [manifest.build(draft.temporary)])
    return draft.folder
