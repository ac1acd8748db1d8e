"""What sessions dated after the question are worth, as a table and in words."""

from __future__ import annotations

from recallbench.escaping.markdown import inline
from recallbench.reports.cells import figure
from recallbench.reports.page import listing
from recallbench.reports.table import Table
from recallbench.results.time.later_part import LaterPart

TITLE = "Sessions dated after the question"


def _table(later: LaterPart) -> Table:
    """Return a row for each measure: both ways, over the questions that have such sessions and over all."""
    rows = [
        (
            these.measure,
            *(figure(value) for value in (these.value, these.without)),
            str(these.n),
            *(figure(value) for value in (every.value, every.without)),
            str(every.n),
        )
        for these, every in zip(later.of_these, later.of_all, strict=True)
    ]
    head = ("measure", "these questions, with them", "without", "n", "all questions, with them", "without", "n")
    return Table(head, rows)


def _sentences(later: LaterPart) -> list[str]:
    """Return what was counted, and how the figures without such sessions were made."""
    return [
        f"{later.questions} questions have {later.segments} sessions in their haystacks that are dated after them, "
        f"{later.gold} of these gold. The protocol lets a question see them: every other figure here counts them.",
        f"Without them {later.emptied} questions have no gold left; they are in neither column.",
        "Without: they are taken out of gold, haystack and ranking, and the hits behind them move up. What would have "
        "come behind the last hit of a ranking is not known, and a store may have scored by their words.",
    ]


def later_section(later: LaterPart | None) -> list[str]:
    """Return the section as Markdown; empty where no session is later."""
    if later is None:
        return []
    said = [line for sentence in _sentences(later) for line in ("", inline(sentence))]
    return [f"## {TITLE}", "", *_table(later).markdown(), *said]


def later_listing(later: LaterPart | None) -> list[str]:
    """Return the section as markup of a page; empty where no session is later."""
    if later is None:
        return []
    return [f"<h2>{TITLE}</h2>", *_table(later).html(), *listing(_sentences(later))]
