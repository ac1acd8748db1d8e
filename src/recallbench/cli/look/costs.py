"""`recallbench costs`: what a result used in four ledgers, and what that costs at some prices."""

from __future__ import annotations

from pathlib import Path

from recallbench.cli import options
from recallbench.cli.command import PATH, VARIABLES, argument, command, option
from recallbench.cli.printing import show
from recallbench.reports.printing.printed import Format, Printed

EXAMPLES = "Examples: recallbench costs results/0.4.2_20261119; recallbench costs DIR --prices our-prices.toml."


@command(
    argument("result", "A result folder.", metavar="DIR", type=PATH),
    options.PRICES,
    option("answering", "The model that a context would be sent to [default: the one that answered, else the list's]."),
    *options.FORMAT,
    epilog=f"{EXAMPLES} {VARIABLES}",
)
def costs(result: Path, prices: Path | None, answering: str | None, format: Format) -> int:
    """Show what a result used (ingest, index, query, generate), and what that costs: a query, a find, a right answer.

    Quantities are the record: tokens as endpoints counted them, seconds of processors, bytes stored. Money follows from
    the prices of a day. What rests on a count of tokens that no endpoint made is called an estimate.
    """
    from recallbench.reports import costs as report
    from recallbench.results.costs.ledgers import ledgers
    from recallbench.results.costs.prices import read_prices
    from recallbench.results.result import open_with_manifest

    listed = read_prices(prices)
    document = report.cost_document(str(result), ledgers(open_with_manifest(result)), listed, answering or "")
    printed = Printed(
        report.title(document),
        report.parts(document),
        document.model_dump(mode="json"),
        report.conclusion(document),
        own_markdown=report.markdown(document),
        own_sheet=report.sheet(document),
    )
    show(printed, format)
    return 0
