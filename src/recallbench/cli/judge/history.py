"""`recallbench history`: put a change or a deviation on record."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path
from typing import Literal

import click

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, argument, choice, command, option
from recallbench.cli.printing import show
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Table

EXAMPLE = (
    "recallbench history add --kind deviation --title 'MiniLM in a first run' --deviation 'embedder minilm on locomo'"
)


@command(
    argument("action", "The only action: entries are never changed.", type=click.Choice(["add"])),
    choice(
        "kind",
        "What is recorded: a change of the system or program that is run (source), of how results are made and counted "
        "(methodology), or what results depart in from the frozen rules (deviation).",
        ["source", "methodology", "deviation"],
    ),
    option("title", "The entry's heading, after its date."),
    option("text", "A paragraph or more on what changed and why, in Markdown.", default=""),
    option(
        "deviation",
        "A departure to put on record, as an audit names it: 'embedder minilm on locomo', 'limit on locomo', or "
        "without a corpus for all; repeat it for several; --kind deviation needs one.",
        multiple=True,
    ),
    option("before", "A result from before the change, for the impact table.", metavar="DIR", type=PATH),
    option("after", "The result from after it.", metavar="DIR", type=PATH),
    option("date", "The entry's date [default: today].", "on", metavar="YYYY-MM-DD"),
    option("file", "The file [default: the HISTORY.md here, or nearest above].", type=PATH),
    *options.FORMAT,
    options.CONFIG,
    epilog=f"Example: {EXAMPLE}\n\n{EPILOG}",
)
def history(
    action: str,
    kind: Literal["source", "methodology", "deviation"] | None,
    title: str | None,
    text: str,
    deviation: tuple[str, ...],
    before: Path | None,
    after: Path | None,
    on: str | None,
    file: Path | None,
    format: Format,
) -> int:
    """Add a dated entry to HISTORY.md, with an impact table where two results are named.

    Existing entries are never changed: an entry or deviation that is already there is refused. A result that deviates
    is cited (cite --as-deviation) and published (audit --publish) once each of its deviations is on record here.
    """
    from recallbench.citing.history_entry import add, conclusion, document, entry
    from recallbench.errors import UsageError
    from recallbench.protocol.history import NAME, as_markdown, nearest, parse_record

    if kind is None or title is None:
        raise UsageError("an entry needs its kind and its title", expected="--kind and --title", remedy=EXAMPLE)
    if (before is None) != (after is None):
        raise UsageError(
            "an impact table needs two results", expected="--before DIR and --after DIR", remedy="name both, or none"
        )
    folders = None if before is None or after is None else (before, after)
    above = nearest(Path.cwd())
    file = file or (Path(os.path.relpath(above)) if above else Path(NAME))
    new = entry(kind, title, _day(on), text, [parse_record(text) for text in deviation], folders, file)
    add(file, new)
    lines = as_markdown(new).splitlines()
    text = "\n".join(lines)
    deviations = Table(("deviation", "corpus"), [(record.name, record.corpus or "all") for record in new.records])
    show(
        Printed(new.title, lines, document(kind, new, file), conclusion(new, file), text, own_sheet=deviations), format
    )
    return 0


def _day(text: str | None) -> date:
    from recallbench.errors import UsageError

    today = date.today()
    try:
        day = today if text is None else date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--date {text} is no date", expected="YYYY-MM-DD", found=str(text)) from None
    if day > today:
        raise UsageError(f"--date {text} has not come yet", expected=f"a day up to {today}", found=str(text))
    return day
