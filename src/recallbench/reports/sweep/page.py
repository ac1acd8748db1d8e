"""`report.md` and `report.html` of a sweep."""

from __future__ import annotations

from recallbench.escaping.markdown import inline, opening
from recallbench.escaping.web import html
from recallbench.reports.page import Page, captioned, listing
from recallbench.reports.sweep.picture import draw
from recallbench.reports.sweep.slices import slice_tables
from recallbench.reports.sweep.tables import point_table
from recallbench.reports.sweep.words import choice_lines, conclusion, failures, files, header, notes, title
from recallbench.results.sweep.document import SLICES, SweepDocument

SLICED = (
    "The 95% interval of each slice stands alone: among many slices some differ by luck, and a point is chosen for all "
    f"of them together. {SLICES} has every point."
)


def page(document: SweepDocument) -> str:
    """Return the sweep as Markdown."""
    lines = [f"# {inline(title(document))}", "", opening(conclusion(document)), "", opening(header(document)), ""]
    if told := choice_lines(document):
        lines += ["## The choice", "", *(f"- {opening(line)}" for line in told), ""]
    lines += ["## Points", "", *point_table(document).markdown(), ""]
    for table in slice_tables(document):
        lines += [f"## {table.caption}", "", *table.markdown(), "", SLICED, ""]
    if failed := failures(document):
        lines += ["## Failed", "", *(f"- {opening(line)}" for line in failed), ""]
    lines += ["## How it was measured", "", *(f"- {opening(note)}" for note in notes(document)), ""]
    lines += [files(), ""]
    return "\n".join(lines)


def web_page(document: SweepDocument) -> str:
    """Return `report.html`: the same with its picture, in one file."""
    plot = draw(document)
    caption = "Each point by the questions held out; the front is that of the questions to choose by."
    dropped = sum(point.dropped_after is not None for point in document.points)
    if dropped:
        caption += f" {dropped} points that the race dropped are in the table alone."
    body = [
        f"<p>{html(conclusion(document))}</p>",
        f"<p>{html(header(document))}</p>",
        *(captioned(plot.element(), caption) if plot is not None else ()),
        *listing(choice_lines(document)),
        *point_table(document).html(),
        *(line for table in slice_tables(document) for line in (*table.html(), f"<p>{html(SLICED)}</p>")),
        *listing(failures(document)),
        *listing(notes(document)),
    ]
    return Page(title(document), body).html()
