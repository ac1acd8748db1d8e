"""`recallbench repeat`: the same run several times."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from recallbench.cli import settings
from recallbench.cli.settings import option
from recallbench.reports.table import print_parts

EXAMPLE = "recallbench repeat 5 locomo --embedder minilm"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("repeat", epilog=f"Example: {EXAMPLE}\n\n{settings.EPILOG}")(repeat)


@settings.takes_store_options()
def repeat(
    times: Annotated[int, typer.Argument(metavar="N", help="How many runs, and warm passes as many.", min=2)],
    corpus: Annotated[str, typer.Argument(help="locomo, longmemeval, canary-locomo or canary-longmemeval.")],
    version: settings.Version = None,
    store: settings.Store = None,
    dsn: settings.Dsn = None,
    embedder: settings.EmbedderName = None,
    backend: settings.Backend = "auto",
    store_options: settings.StoreOptions = settings.NO_STORE_OPTIONS,
    corpus_file: settings.CorpusFile = None,
    download: settings.Download = True,
    allow_deviation: settings.AllowDeviation = None,
    limit: settings.Limit = None,
    depth: settings.Depth = 50,
    scope: settings.Scope = "own",
    out: settings.Out = None,
    label: Annotated[str | None, option("label", "A word added to the folder's name.")] = None,
    resume: Annotated[
        Path | None,
        option(
            "resume", "Go on with an unfinished repeat of the same options: its whole runs count.", metavar="FOLDER"
        ),
    ] = None,
    as_json: Annotated[bool, option("json", "Print repeat.json in place of the summary.")] = False,
    cache_dir: settings.CacheDir = None,
    quiet: settings.Quiet = False,
    config: settings.Config = None,
) -> int:
    """Run N times on a cold index and ask a warm one as often: the spread of each measure, and the band it must keep.

    Leaves a folder with every run and every warm ranking, repeat.md and repeat.json. Exits with 1 when the spread
    leaves the protocol's band, or when settings drifted between the runs. An interrupted or killed repeat leaves whole
    runs; the same command with --resume FOLDER goes on from them.
    """
    from recallbench.cli.bars import listener
    from recallbench.corpora.registry import names
    from recallbench.errors import UsageError
    from recallbench.reports import repetition as told
    from recallbench.runs.options import Options
    from recallbench.studies import repetition

    if resume is not None and (out is not None or label is not None):
        raise UsageError("--resume names a folder that is there already", expected="no --out and no --label beside it")
    allowed = settings.allowed(allow_deviation)
    if len(several := names(corpus)) > 1:
        raise UsageError(f"{corpus} is several corpora", expected=f"one of {', '.join(several)}", found=corpus)
    options = Options(
        corpus=corpus,
        version=version,
        store=store,
        dsn=dsn,
        embedder=embedder,
        backend=backend,
        store_options=store_options,
        corpus_file=corpus_file,
        download=download,
        out=out,
        label=label,
        limit=limit,
        depth=depth,
        pooled=scope == "pooled",
        allow_deviations=allowed,
        cache_dir=cache_dir or settings.default_cache(),
        environ=settings.environment(),
    )
    made = repetition.repeat(options, times, listener(quiet), date.today(), resume)
    if as_json:
        print((made.folder / told.JSON).read_text(encoding="utf-8"), end="")
    else:
        below = [*told.findings(made.summary), *told.conditions(made.summary)]
        place = f"report: {(made.folder / told.MARKDOWN).absolute()}"
        print_parts(told.title(made.summary), told.spread_table(made.summary), *below, place)
    return 0 if made.summary.holds else 1
