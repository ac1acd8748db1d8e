"""`report.md` of a latency study, its page, and what `latency` prints."""

from __future__ import annotations

from pathlib import Path

from recallbench.escaping.markdown import headed, opening
from recallbench.escaping.web import html
from recallbench.reports.load.conclusion import conclusion
from recallbench.reports.load.tables import difference_table, level_table, part_table
from recallbench.reports.load.words import notes, title
from recallbench.reports.page import Page, listing
from recallbench.reports.printing.printed import Printed
from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.reports.table import Part
from recallbench.results.load.levels import CALLS, NAME, REPORT, LatencyDocument


def page(document: LatencyDocument) -> str:
    """Return the study as Markdown, what follows from it first."""
    return headed(title(document), [opening(str(conclusion(document))), "", *_sections(document)])


def web_page(document: LatencyDocument) -> str:
    """Return the same as a page."""
    return Page(title(document), [f"<p>{html(str(conclusion(document)))}</p>", *_body(document)]).html()


def printed(document: LatencyDocument, folder: Path, command: TypedCommand) -> Printed:
    """Return what `recallbench latency` prints: what follows from the study is its last line.

    `command` is the one that was typed.
    """
    tables = [level_table(document), part_table(document)]
    tables += [difference_table(document)] if document.differences else []
    parts: list[Part] = [
        title(document),
        *(table for table in tables if table is not None),
        *notes(document),
        f"report: {folder / REPORT}",
    ]
    return Printed(
        title(document),
        parts,
        document.model_dump(mode="json"),
        conclusion(document, folder, command),
        own_markdown=headed(title(document), _sections(document)),
        own_page=Page(title(document), _body(document)).html(),
        own_sheet=level_table(document),
    )


def _sections(document: LatencyDocument) -> list[str]:
    lines = [*level_table(document).markdown(), ""]
    if (parts := part_table(document)) is not None:
        lines += ["## What a time is made of", "", *parts.markdown(), ""]
    if document.differences:
        lines += ["## B minus A", "", *difference_table(document).markdown(), ""]
    lines += ["## How it was measured", "", *(f"- {opening(note)}" for note in notes(document)), ""]
    lines += ["## Rules", "", *(f"- {opening(rule)}" for rule in document.rules), ""]
    return [*lines, f"`{NAME}` has every figure, and `{CALLS}` every call.", ""]


def _body(document: LatencyDocument) -> list[str]:
    body = [*level_table(document).html()]
    if (parts := part_table(document)) is not None:
        body += ["<h2>What a time is made of</h2>", *parts.html()]
    if document.differences:
        body += ["<h2>B minus A</h2>", *difference_table(document).html()]
    return [
        *body,
        "<h2>How it was measured</h2>",
        *listing(notes(document)),
        "<h2>Rules</h2>",
        *listing(document.rules),
    ]
