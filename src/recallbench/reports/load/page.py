"""`report.md` of a latency study, and its page."""

from __future__ import annotations

from recallbench.escaping.markdown import inline, opening
from recallbench.escaping.web import html
from recallbench.reports.load.tables import difference_table, level_table, part_table
from recallbench.reports.load.words import conclusion, notes, title
from recallbench.reports.page import Page, listing
from recallbench.results.load.levels import CALLS, NAME, LatencyDocument


def page(document: LatencyDocument) -> str:
    """Return the study as Markdown."""
    lines = [f"# {inline(title(document))}", "", opening(conclusion(document)), ""]
    lines += [*level_table(document).markdown(), ""]
    if (parts := part_table(document)) is not None:
        lines += ["## What a time is made of", "", *parts.markdown(), ""]
    if document.differences:
        lines += ["## B minus A", "", *difference_table(document).markdown(), ""]
    lines += ["## How it was measured", "", *(f"- {opening(note)}" for note in notes(document)), ""]
    lines += ["## Rules", "", *(f"- {opening(rule)}" for rule in document.rules), ""]
    lines += [f"`{NAME}` has every figure, and `{CALLS}` every call.", ""]
    return "\n".join(lines)


def web_page(document: LatencyDocument) -> str:
    """Return the same as a page."""
    body = [f"<p>{html(conclusion(document))}</p>", *level_table(document).html()]
    if (parts := part_table(document)) is not None:
        body += ["<h2>What a time is made of</h2>", *parts.html()]
    if document.differences:
        body += ["<h2>B minus A</h2>", *difference_table(document).html()]
    body += ["<h2>How it was measured</h2>", *listing(notes(document)), "<h2>Rules</h2>", *listing(document.rules)]
    return Page(title(document), body).html()
