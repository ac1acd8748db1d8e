"""The meter of short answers in words and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recallbench.reports.cells import share
from recallbench.reports.table import Table
from recallbench.scoring.returned import ReturnedRows

HEADING = "Answers shorter than asked"


def returned_section(calls: Sequence[ReturnedRows]) -> list[str]:
    """Return the lines of report.md; none where every call came back whole."""
    short = any(call.is_short for call in calls)
    return [f"## {HEADING}", "", *returned_table(calls).markdown()] if short else []


def returned_part(calls: Sequence[ReturnedRows]) -> list[str]:
    """Return the same for a page."""
    return [f"<h2>{HEADING}</h2>", *returned_table(calls).html()] if any(call.is_short for call in calls) else []


def returned_table(calls: Sequence[ReturnedRows]) -> Table:
    """Return a row for each call: rows asked for, eligible and returned, and the kinds that lost some."""
    rows = [
        (
            str(call.k),
            f"{call.asked:,}",
            f"{call.eligible:,}",
            f"{call.returned:,}",
            share(call.returned / call.eligible) if call.eligible else "–",
            str(call.short_questions),
            ", ".join(f"{kind} {share(part)}" for kind, part in call.kinds.items()) or "–",
        )
        for call in calls
    ]
    head = ("k", "rows asked for", "eligible", "returned", "share", "short questions", "kinds that lost rows")
    return Table(head, rows, caption="Eligible is what the haystacks hold, k at most")


def returned_sentences(calls: Sequence[ReturnedRows]) -> Iterator[str]:
    """Yield a sentence for each call that came back short."""
    for call in calls:
        if call.is_short:
            yield (
                f"rows of the calls for {call.k}: {call.asked:,} asked, {call.eligible:,} eligible,"
                f" {call.returned:,} returned ({share(call.returned / call.eligible)} of the eligible);"
                f" {call.short_questions} questions got too few"
            )
