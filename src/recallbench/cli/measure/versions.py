"""`recallbench versions`: the same run over several versions of the extension."""

from __future__ import annotations

from datetime import date
from typing import Annotated

import typer

from recallbench.cli import settings
from recallbench.cli.settings import option
from recallbench.reports.table import print_parts

EXAMPLE = "recallbench versions --corpus locomo --dsn postgresql://… 0.2.1 0.4.1 0.20.0"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("versions", epilog=settings.EPILOG)(versions)


@settings.takes_store_options("pgmnemo")
def versions(
    version: Annotated[list[str], typer.Argument(metavar="VERSION", help="In the order to compare, as 0.2.1.")],
    corpus: Annotated[str | None, option("corpus", "locomo, longmemeval, canary-locomo or canary-longmemeval.")] = None,
    store: Annotated[str | None, option("store", "The memory under test; pgmnemo is the one with versions.")] = None,
    dsn: Annotated[
        str | None, option("dsn", "A server where databases may be created [default: $PGMNEMO_DSN].")
    ] = None,
    embedder: settings.EmbedderName = None,
    backend: settings.Backend = "auto",
    store_options: settings.StoreOptions = settings.NO_STORE_OPTIONS,
    corpus_file: settings.CorpusFile = None,
    download: settings.Download = True,
    allow_deviation: settings.AllowDeviation = None,
    limit: settings.Limit = None,
    scope: settings.Scope = "own",
    out: settings.Out = None,
    label: Annotated[str | None, option("label", "A word added to the folders' names.")] = None,
    cache_dir: settings.CacheDir = None,
    quiet: settings.Quiet = False,
    config: settings.Config = None,
) -> int:
    """Measure versions of pgmnemo alike, each in a database of its own, and compare neighbours.

    Leaves a result folder per version, and beside them one with the table and a page that plots it. Exits with 3 when
    a version could not be measured; the others are measured all the same.
    """
    from recallbench.cli.bars import listener
    from recallbench.cli.measure.comparison import comparison
    from recallbench.corpora.registry import names
    from recallbench.errors import UsageError
    from recallbench.runs.options import Options
    from recallbench.studies.versions import measure_versions

    if corpus is None:
        raise UsageError("no corpus is named", expected="--corpus NAME", remedy=EXAMPLE)
    allowed = settings.allowed(allow_deviation)
    if len(several := names(corpus)) > 1:
        raise UsageError(f"{corpus} is several corpora", expected=f"one of {', '.join(several)}", found=corpus)
    options = Options(
        corpus=corpus,
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
        pooled=scope == "pooled",
        allow_deviations=allowed,
        cache_dir=cache_dir or settings.default_cache(),
        environ=settings.environment(),
    )
    compared = measure_versions(options, version, listener(quiet), date.today())
    print_parts(*comparison(compared.summary, compared.folder))
    return 0 if compared.complete else 3
