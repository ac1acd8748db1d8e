"""`report.md` of a latency study."""

from __future__ import annotations

from recallbench.escaping.markdown import inline, opening
from recallbench.reports.load.tables import difference_table, level_table, part_table
from recallbench.reports.load.words import conclusion, notes, title
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
