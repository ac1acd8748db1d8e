"""What `repeat` prints."""

from __future__ import annotations

from pathlib import Path

from recallbench.reports.cells import every_digit
from recallbench.reports.page import Page, listing
from recallbench.reports.printing.printed import Printed
from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.reports.repetition.conclusion import conclusion
from recallbench.reports.repetition.document import MARKDOWN, Repetition, SpreadPart
from recallbench.reports.repetition.words import circumstances, conditions, findings, markdown, spread_table, title
from recallbench.reports.table import Table

OWN_STORES = ("callable", "python:", "http:", "https:")
"""What the name of a user's own store begins with."""


def printed(repetition: Repetition, folder: Path, command: TypedCommand, kept: int = 0) -> Printed:
    """Return what `recallbench repeat` prints: of one's own data or store without how it departs from the protocol.

    `command` is the one that was typed; `kept` runs were there before.
    """
    own = repetition.store.startswith(OWN_STORES) or all(band.width is None for band in repetition.bands)
    before = [f"{kept} of the runs from before an interruption"] if kept else []
    below = [*findings(repetition), *(circumstances if own else conditions)(repetition)]
    page = [*listing(below), *spread_table(repetition).html()]
    return Printed(
        title(repetition),
        [title(repetition), spread_table(repetition), *below, *before, f"report: {(folder / MARKDOWN).absolute()}"],
        repetition.model_dump(mode="json"),
        conclusion(repetition, folder, command),
        own_markdown=markdown(repetition),
        own_page=Page(title(repetition), page).html(),
        own_sheet=_sheet(repetition),
    )


def _sheet(repetition: Repetition) -> Table:
    """Return a row for each measure with every digit, for a spreadsheet."""
    fields = list(SpreadPart.model_fields)
    return Table(fields, [[every_digit(getattr(spread, name)) for name in fields] for spread in repetition.spread])
