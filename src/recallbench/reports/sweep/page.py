"""`report.md` and `report.html` of a sweep, and what `sweep` prints."""

from __future__ import annotations

from pathlib import Path

from recallbench.escaping.markdown import headed, opening
from recallbench.escaping.web import html
from recallbench.reports.page import Page, captioned, listing
from recallbench.reports.printing.printed import Printed
from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.reports.sweep.chart import chart
from recallbench.reports.sweep.conclusion import conclusion, left_out
from recallbench.reports.sweep.picture import draw
from recallbench.reports.sweep.sensitivity import draw_sensitivity, other_table, sensitivity_notes, sensitivity_table
from recallbench.reports.sweep.slices import slice_tables
from recallbench.reports.sweep.stability import stability_notes, stability_table
from recallbench.reports.sweep.tables import point_sheet, point_table
from recallbench.reports.sweep.words import choice_lines, failures, files, header, notes, title
from recallbench.reports.table import Part, Table
from recallbench.results.sweep.document import PAGE, REPORT, SLICES, SweepDocument

SLICED = (
    "The 95% interval of each slice stands alone: among many slices some differ by luck, and a point is chosen for all "
    f"of them together. {SLICES} has every point."
)


def page(document: SweepDocument) -> str:
    """Return the sweep as Markdown, what follows from it first."""
    return headed(title(document), [opening(str(conclusion(document))), "", *_sections(document)])


def web_page(document: SweepDocument) -> str:
    """Return `report.html`: the same with its picture, in one file."""
    return Page(title(document), [f"<p>{html(str(conclusion(document)))}</p>", *_body(document)]).html()


def printed(
    document: SweepDocument, folder: Path, corpus: tuple[str, ...], file: Path, combinations: int, command: TypedCommand
) -> Printed:
    """Return what `recallbench sweep` prints: what follows from it is its last line.

    `corpus`, the words that name it, `file` and `command` are as they were typed; so many `combinations` can't be
    measured.
    """
    told = [f"{said}: they can't go together." for said in left_out(combinations)]
    further = [*slice_tables(document), sensitivity_table(document), stability_table(document)]
    parts: list[Part] = [
        title(document),
        header(document),
        *told,
        point_table(document),
        *(part for table in further if table is not None for part in (f"{table.caption}:", table)),
        *choice_lines(document),
        *notes(document),
        *failures(document),
        f"page: {folder / PAGE}",
        f"report: {folder / REPORT}",
    ]
    return Printed(
        title(document),
        parts,
        document.model_dump(mode="json"),
        conclusion(document, corpus, file, command),
        own_markdown=headed(title(document), [*_sections(document), *told]),
        own_page=Page(title(document), [*(f"<p>{html(line)}</p>" for line in told), *_body(document)]).html(),
        own_sheet=point_sheet(document),
    )


def _sections(document: SweepDocument) -> list[str]:
    lines = [opening(header(document)), ""]
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
    return [*lines, files(), ""]


def _body(document: SweepDocument) -> list[str]:
    plot = draw(document)
    caption = "Each point by the questions held out; the front is that of the questions to choose by."
    dropped = sum(point.dropped_after is not None for point in document.points)
    if dropped:
        caption += f" {dropped} points that the race dropped are in the table alone."
    if document.gates:
        caption += " Gates were judged by the questions to choose by: their lines show where these points lie to them."
    return [
        f"<p>{html(header(document))}</p>",
        *(captioned(plot.element(), caption) if plot is not None else ()),
        *listing(choice_lines(document)),
        *point_table(document).html(),
        *(line for table in slice_tables(document) for line in (*table.html(), f"<p>{html(SLICED)}</p>")),
        *_further_html(document),
        *listing(failures(document)),
        *listing(notes(document)),
    ]


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
