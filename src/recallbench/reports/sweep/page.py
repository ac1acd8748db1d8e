"""`report.md` and `report.html` of a sweep."""

from __future__ import annotations

from recallbench.escaping.markdown import inline, opening
from recallbench.escaping.web import html
from recallbench.reports.page import Page, captioned, listing
from recallbench.reports.sweep.chart import chart
from recallbench.reports.sweep.picture import draw
from recallbench.reports.sweep.sensitivity import draw_sensitivity, other_table, sensitivity_notes, sensitivity_table
from recallbench.reports.sweep.slices import slice_tables
from recallbench.reports.sweep.stability import stability_notes, stability_table
from recallbench.reports.sweep.tables import point_table
from recallbench.reports.sweep.words import choice_lines, conclusion, failures, files, header, notes, title
from recallbench.reports.table import Table
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
    if drawn := chart(document):
        lines += ["## Picture", "", *drawn, ""]
    lines += ["## Points", "", *point_table(document).markdown(), ""]
    for table in slice_tables(document):
        lines += [f"## {table.caption}", "", *table.markdown(), "", SLICED, ""]
    for table, told in _further(document):
        lines += [f"## {table.caption}", "", *table.markdown(), "", *(f"- {opening(note)}" for note in told), ""]
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
    if document.gates:
        caption += " Gates were judged by the questions to choose by: their lines show where these points lie to them."
    body = [
        f"<p>{html(conclusion(document))}</p>",
        f"<p>{html(header(document))}</p>",
        *(captioned(plot.element(), caption) if plot is not None else ()),
        *listing(choice_lines(document)),
        *point_table(document).html(),
        *(line for table in slice_tables(document) for line in (*table.html(), f"<p>{html(SLICED)}</p>")),
        *_further_html(document),
        *listing(failures(document)),
        *listing(notes(document)),
    ]
    return Page(title(document), body).html()


def _further(document: SweepDocument) -> list[tuple[Table, list[str]]]:
    """Return the tables of what was measured beside the points, each with its notes."""
    tables = [
        (sensitivity_table(document), sensitivity_notes(document)),
        (other_table(document), []),
        (stability_table(document), stability_notes(document)),
    ]
    return [(table, told) for table, told in tables if table is not None]


def _further_html(document: SweepDocument) -> list[str]:
    plot = draw_sensitivity(document)
    drawn = (
        captioned(plot.element("sensitivity"), "What one step up of each parameter moves.") if plot is not None else ()
    )
    tables = [line for table, told in _further(document) for line in (*table.html(), *listing(told))]
    return [*drawn, *tables]
