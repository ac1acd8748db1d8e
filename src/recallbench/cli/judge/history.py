"""`recallbench history`: put a change or a deviation on record."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Literal

import click

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, argument, choice, command, option

EXAMPLE = (
    "recallbench history add --kind methodology --title 'MiniLM in a first run' --deviation 'embedder minilm on locomo'"
)


@command(
    argument("action", "The only action: entries are never changed.", type=click.Choice(["add"])),
    choice(
        "kind",
        "What changed: the system or program that is run, or how results are made and counted.",
        ["source", "methodology"],
    ),
    option("title", "The entry's heading, after its date."),
    option("text", "A paragraph or more on what changed and why, in Markdown.", default=""),
    option(
        "deviation",
        "A departure to put on record, as 'embedder minilm on locomo'; repeat it for several.",
        multiple=True,
    ),
    option("before", "A result from before the change, for the impact table.", metavar="DIR", type=PATH),
    option("after", "The result from after it.", metavar="DIR", type=PATH),
    option("date", "The entry's date [default: today].", "on", metavar="YYYY-MM-DD"),
    option("file", "The file [default: the HISTORY.md here, or nearest above].", type=PATH),
    options.CONFIG,
    epilog=f"Example: {EXAMPLE}\n\n{EPILOG}",
)
def history(
    action: str,
    kind: Literal["source", "methodology"] | None,
    title: str | None,
    text: str,
    deviation: tuple[str, ...],
    before: Path | None,
    after: Path | None,
    on: str | None,
    file: Path | None,
) -> int:
    """Add a dated entry to HISTORY.md, with an impact table where two results are named.

    Existing entries are never changed: an entry or deviation that is already there is refused.
    """
    from recallbench.citing.history_entry import add, entry
    from recallbench.errors import UsageError
    from recallbench.protocol.history import NAME, nearest, parse_record

    if kind is None or title is None:
        raise UsageError("an entry needs its kind and its title", expected="--kind and --title", remedy=EXAMPLE)
    if (before is None) != (after is None):
        raise UsageError(
            "an impact table needs two results", expected="--before DIR and --after DIR", remedy="name both, or none"
        )
    folders = None if before is None or after is None else (before, after)
    file = file or nearest(Path.cwd()) or Path(NAME)
    new = entry(kind, title, _day(on), text, [parse_record(text) for text in deviation], folders, file)
    add(file, new)
    print(f"## {new.dated}: {new.title}\n\n{new.body}")
    if new.records:
        print("\n" + "\n".join(f"- Deviation: {record}" for record in new.records))
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
