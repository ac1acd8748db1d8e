"""`recallbench history`: put a change or a deviation on record."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import typer

from recallbench.cli import settings
from recallbench.cli.settings import option

EXAMPLE = (
    "recallbench history add --kind methodology --title 'MiniLM in a first run' --deviation 'embedder minilm on locomo'"
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("history", epilog=f"Example: {EXAMPLE}\n\n{settings.EPILOG}")(history)


def history(
    action: Annotated[Literal["add"], typer.Argument(help="Entries are only ever added.")],
    kind: Annotated[
        Literal["source", "methodology"] | None,
        option("kind", "What changed: the system or program that is run, or how results are made and counted."),
    ] = None,
    title: Annotated[str | None, option("title", "The entry's heading, behind its date.")] = None,
    text: Annotated[str, option("text", "A paragraph or more on what changed and why, in Markdown.")] = "",
    deviation: Annotated[
        list[str] | None,
        option("deviation", "A departure to put on record, as 'embedder minilm on locomo'; may be given often."),
    ] = None,
    before: Annotated[
        Path | None, option("before", "A result from before the change, for the impact table.", metavar="DIR")
    ] = None,
    after: Annotated[Path | None, option("after", "The result from after it.", metavar="DIR")] = None,
    on: Annotated[str | None, option("date", "The entry's date [default: today].", metavar="YYYY-MM-DD")] = None,
    file: Annotated[Path | None, option("file", "The file [default: the HISTORY.md here, or nearest above].")] = None,
    config: settings.Config = None,
) -> int:
    """Add a dated entry to HISTORY.md, with an impact table where two results are named.

    What is written is never rewritten: an entry or deviation that is there already is refused.
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
    new = entry(kind, title, _day(on), text, [parse_record(text) for text in deviation or ()], folders, file)
    add(file, new)
    print(f"## {new.dated}: {new.title}\n\n{new.body}")
    if new.records:
        print("\n" + "\n".join(f"- Deviation: {one}" for one in new.records))
    return 0


def _day(text: str | None) -> date:
    from recallbench.errors import UsageError

    today = date.today()
    try:
        found = today if text is None else date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--date {text} is no date", expected="YYYY-MM-DD", found=str(text)) from None
    if found > today:
        raise UsageError(f"--date {text} has not come yet", expected=f"a day up to {today}", found=str(text))
    return found
