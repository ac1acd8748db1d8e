"""`report.md` of a sweep."""

from __future__ import annotations

from recallbench.escaping.markdown import inline, opening
from recallbench.reports.sweep.tables import point_table
from recallbench.reports.sweep.words import choice_lines, conclusion, failures, files, header, notes, title
from recallbench.results.sweep.document import SweepDocument


def page(document: SweepDocument) -> str:
    """Return the sweep as Markdown."""
    lines = [f"# {inline(title(document))}", "", opening(conclusion(document)), "", opening(header(document)), ""]
    if told := choice_lines(document):
        lines += ["## The choice", "", *(f"- {opening(line)}" for line in told), ""]
    lines += ["## Points", "", *point_table(document).markdown(), ""]
    if failed := failures(document):
        lines += ["## Failed", "", *(f"- {opening(line)}" for line in failed), ""]
    lines += ["## How it was measured", "", *(f"- {opening(note)}" for note in notes(document)), ""]
    lines += [files(), ""]
    return "\n".join(lines)
