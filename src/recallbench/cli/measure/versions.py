"""`recallbench versions`: the same run over several versions of the extension."""

from __future__ import annotations

from datetime import date
from typing import Any

from recallbench.cli import encoder_options, options
from recallbench.cli.command import EPILOG, argument, command, option
from recallbench.cli.printing import show
from recallbench.cli.server_option import server_option
from recallbench.reports.printing.printed import Format


@command(
    argument("version", "In the order to compare, as 0.2.1.", nargs=-1, required=True, metavar="VERSION..."),
    option("corpus", "A single one: locomo, longmemeval, realtalk, realmem, …"),
    option("store", "The memory under test; pgmnemo is the one with versions."),
    server_option("A server where databases may be created [default: $PGMNEMO_DSN]."),
    encoder_options.EMBEDDER,
    encoder_options.MAX_TOKENS,
    encoder_options.BACKEND,
    *options.of_stores("pgmnemo"),
    *options.OWN_CORPUS,
    options.LIMIT,
    *options.SEEN,
    *options.STUDY,
    *options.GENERAL,
    epilog=f"Example: recallbench versions 0.2.0 0.2.1 --corpus locomo --dsn postgresql://user@host/postgres. {EPILOG}",
)
def versions(version: tuple[str, ...], corpus: str | None, format: Format, quiet: bool, **of_run: Any) -> int:
    """Measure versions of pgmnemo alike, each in a database of its own, and compare neighbours.

    Leaves a result folder per version, and beside them one with the table and a page that plots it. Exits with 3 when
    a version could not be measured; the others are measured all the same.
    """
    from recallbench.cli.bars import listener
    from recallbench.reports.versions_page import printed
    from recallbench.studies.versions import measure_versions

    corpus = options.take_corpus(corpus, of_run)
    run_options = options.run_options(corpus=options.single_corpus(corpus), **of_run)
    compared = measure_versions(run_options, version, listener(quiet), date.today())
    measured = [part.version for part in compared.summary.versions if part.status == "measured"]
    results = dict(zip(measured, compared.results, strict=True))
    show(printed(compared.summary, compared.folder, results), format)
    return 0 if compared.complete else 3
