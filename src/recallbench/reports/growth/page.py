"""What `grow` prints."""

from __future__ import annotations

from recallbench.reports.cells import every_digit
from recallbench.reports.growth.conclusion import conclusion
from recallbench.reports.growth.document import Growth, document
from recallbench.reports.growth.picture import draw
from recallbench.reports.growth.words import notes, table
from recallbench.reports.page import Page, captioned, listing
from recallbench.reports.printing.printed import Printed
from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.reports.table import Table


def printed(growth: Growth, command: TypedCommand) -> Printed:
    """Return what `recallbench grow` prints; `command` is the one that was typed."""
    plot = draw(growth)
    body = [
        *captioned(plot.element(), "The table has the same figures."),
        *table(growth).html(),
        *listing(notes(growth)),
    ]
    return Printed(
        plot.title,
        [table(growth), *notes(growth)],
        document(growth),
        conclusion(growth, command),
        own_page=Page(plot.title, body).html(),
        own_sheet=_sheet(growth),
    )


def _sheet(growth: Growth) -> Table:
    """Return a row for each size with every digit, for a spreadsheet."""
    measures = [estimate.measure for estimate in growth.sizes[0].estimates]
    columns = ["size", "stored", "largest haystack"]
    columns += [f"{measure}{end}" for measure in measures for end in ("", " low", " high")]
    rows = [
        [
            *map(str, (size.factor, size.stored, size.largest)),
            *(every_digit(value) for part in size.estimates for value in (part.value, part.low, part.high)),
            *map(every_digit, (size.estimates[0].chance, size.p50_ms, size.p95_ms)),
            size.disturbed or size.impossible,
        ]
        for size in growth.sizes
    ]
    return Table([*columns, "chance", "p50 ms", "p95 ms", "remark"], rows)
