"""Whether the tables of a foreign folder's reports say what its figures say, and what in it nobody could read."""

from __future__ import annotations

from collections.abc import Iterator

from recallbench.audit.gate import Check
from recallbench.foreign.case import ForeignCase, check, few


def reported(case: ForeignCase) -> Iterator[Check]:
    """Whether tables say what the figures say, and whether every file and field was looked at."""
    if case.unreadable:
        yield check("RB-F-REPORT", "reports", "fail", case.unreadable)
    found = case.compared
    aside = f"; {len(found.elsewhere)} are told of another run or of a difference" if found.elsewhere else ""
    if found.wrong:
        yield check("RB-F-REPORT", "reports", "fail", f"{few(found.wrong)}{aside}")
    if found.open:
        told = f"{len(found.open)} figures can't be placed: {few(found.open)}{aside}"
        yield check("RB-F-REPORT", "reports", "cannot-tell", told)
    if not (case.unreadable or found.wrong or found.open):
        number = found.agreeing
        told = f"{number} figures in tables are those published" if number else "no figure to compare stands in a table"
        yield check("RB-F-REPORT", "reports", "pass", told + aside)
    unread = [f"{one.where}: {one.shown}" for one in case.imported.unread if not one.quoted]
    unread += [f"{one.where}: {one.text}" for one in case.loose]
    quoted = sum(one.quoted for one in case.imported.unread)
    beside = f"; {quoted} more are told of another run" if quoted else ""
    if unread:
        told = f"{len(unread)} not looked at: {few(unread)}{beside}"
        yield check("RB-F-UNREAD", "everything read", "cannot-tell", told)
    else:
        yield check(
            "RB-F-UNREAD",
            "everything read",
            "pass",
            f"every number of files and tables was looked at; prose is not read{beside}",
        )
