"""`recallbench repeat`: the same run several times."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, Whole, argument, command, option
from recallbench.cli.engine_options import ENGINE
from recallbench.cli.printing import show
from recallbench.cli.typed_command import typed_command
from recallbench.reports.printing.printed import Format

EXAMPLE = "recallbench repeat 5 locomo --embedder minilm"


@command(
    argument("times", "How many runs, and as many warm passes.", metavar="N", type=Whole(2)),
    argument(
        "corpus", "A single one: locomo, longmemeval, realtalk, realmem, …; none with --corpus-shape.", required=False
    ),
    options.VERSION,
    *options.of_system(),
    *options.CORPUS,
    *options.SEEN,
    *ENGINE,
    *options.STUDY,
    option(
        "resume",
        "Go on with an unfinished repeat of the same options; its whole runs count.",
        metavar="FOLDER",
        type=PATH,
    ),
    *options.GENERAL,
    epilog=f"Example: {EXAMPLE}\n\n{EPILOG}",
)
def repeat(times: int, corpus: str | None, resume: Path | None, format: Format, quiet: bool, **of_run: Any) -> int:
    """Measure N times on a cold index and N times on a warm one: the spread of each measure, and its allowed band.

    Leaves a folder with every run and every warm ranking, repeat.md and repeat.json. Exits with 1 when the spread
    leaves the protocol's band, or when settings changed between runs. After an interruption the same command with
    --resume FOLDER goes on from the runs that are whole.
    """
    from recallbench.cli.bars import listener
    from recallbench.errors import UsageError
    from recallbench.reports.repetition.page import printed
    from recallbench.studies import repetition

    corpus = options.take_corpus(corpus, of_run)
    run_options = options.run_options(corpus=options.single_corpus(corpus), **of_run)
    if resume is not None and (run_options.out is not None or run_options.label is not None):
        raise UsageError(
            "--resume names a folder that is there already",
            expected="--resume without --out and --label",
            found=f"--{'out' if run_options.out is not None else 'label'}",
        )
    repeated = repetition.repeat(run_options, times, listener(quiet), date.today(), resume)
    show(printed(repeated.summary, repeated.folder, typed_command(), repeated.kept), format)
    return 0 if repeated.summary.holds else 1
