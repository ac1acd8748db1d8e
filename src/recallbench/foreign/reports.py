"""Checks on a foreign folder's reports: figures in tables, and numbers that were not read."""

from __future__ import annotations

from collections.abc import Iterator

from recallbench.audit.gate import Check
from recallbench.foreign.case import ForeignCase, abridge, check


def check_reports(case: ForeignCase) -> Iterator[Check]:
    """Check that tables agree with the published figures, and that every file and field was read."""
    yield from _tables(case)
    numbers = (*case.imported.unread, *case.tables.loose)
    unread = [f"{number.where}: {number.shown}" for number in numbers if not number.quoted]
    quoted = sum(item.quoted for item in case.imported.unread)
    beside = f"; {quoted} more are told of another run" if quoted else ""
    if case.tables.prose:
        beside = f"; the prose of {', '.join(case.tables.prose)} is not read{beside}"
    if unread:
        text = f"{len(unread)} not looked at: {abridge(unread)}{beside}"
        yield check("RB-F-UNREAD", "everything read", "cannot-tell", text)
    else:
        text = f"every number of files and tables was looked at{beside}"
        yield check("RB-F-UNREAD", "everything read", "pass", text)


def _tables(case: ForeignCase) -> Iterator[Check]:
    comparison = case.comparison
    others = comparison.elsewhere
    aside = f"; {others} are told of another run or of a difference" if others else ""
    if case.unreadable:
        yield check("RB-F-REPORT", "reports", "fail", case.unreadable)
    if comparison.wrong:
        yield check("RB-F-REPORT", "reports", "fail", f"{abridge(comparison.wrong)}{aside}")
    if comparison.open:
        text = f"{len(comparison.open)} figures can't be placed: {abridge(comparison.open)}{aside}"
        yield check("RB-F-REPORT", "reports", "cannot-tell", text)
    if not (case.unreadable or comparison.wrong or comparison.open):
        number = comparison.agreeing
        text = f"{number} figures in tables are those published" if number else "no figure to compare stands in a table"
        yield check("RB-F-REPORT", "reports", "pass", text + aside)
