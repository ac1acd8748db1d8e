"""`recallbench repeat`: the same run several times."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import click

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, argument, command, flag, option
from recallbench.reports.table import print_parts

EXAMPLE = "recallbench repeat 5 locomo --embedder minilm"


@command(
    argument("times", "How many runs, and warm passes as many.", metavar="N", type=click.IntRange(2)),
    argument("corpus", "locomo, longmemeval, canary-locomo or canary-longmemeval."),
    options.VERSION,
    *options.SYSTEM,
    *options.of_stores(),
    *options.CORPUS,
    options.LIMIT,
    options.DEPTH,
    options.SCOPE,
    options.OUT,
    options.LABEL,
    option(
        "resume",
        "Go on with an unfinished repeat of the same options; its whole runs count.",
        metavar="FOLDER",
        type=PATH,
    ),
    flag("json", "Print repeat.json in place of the summary.", "as_json"),
    options.CACHE_DIR,
    options.QUIET,
    options.CONFIG,
    epilog=f"Example: {EXAMPLE}\n\n{EPILOG}",
)
def repeat(times: int, corpus: str, resume: Path | None, as_json: bool, quiet: bool, **of_run: Any) -> int:
    """Run N times on a cold index and ask a warm one as often: the spread of each measure, and the band it must keep.

    Leaves a folder with every run and every warm ranking, repeat.md and repeat.json. Exits with 1 when the spread
    leaves the protocol's band, or when settings drifted between the runs. An interrupted or killed repeat leaves whole
    runs; the same command with --resume FOLDER goes on from them.
    """
    from recallbench.cli.bars import listener
    from recallbench.errors import UsageError
    from recallbench.reports import repetition as told
    from recallbench.studies import repetition

    asked = options.run_options(corpus=options.single_corpus(corpus), **of_run)
    if resume is not None and (asked.out is not None or asked.label is not None):
        raise UsageError(
            "--resume names a folder that is there already",
            expected="--resume without --out and --label",
            found=f"--{'out' if asked.out is not None else 'label'}",
        )
    made = repetition.repeat(asked, times, listener(quiet), date.today(), resume)
    if as_json:
        print((made.folder / told.JSON).read_text(encoding="utf-8"), end="")
    else:
        below = [*told.findings(made.summary), *told.conditions(made.summary)]
        place = f"report: {(made.folder / told.MARKDOWN).absolute()}"
        print_parts(told.title(made.summary), told.spread_table(made.summary), *below, place)
    return 0 if made.summary.holds else 1
