"""`recallbench versions`: the same run over several versions of the extension."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import typer

from recallbench.cli import settings
from recallbench.cli.settings import option

EXAMPLE = "recallbench versions --corpus locomo --dsn postgresql://… 0.2.1 0.4.1 0.20.0"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("versions", epilog=settings.EPILOG)(versions)


def versions(
    version: Annotated[list[str], typer.Argument(metavar="VERSION", help="In the order to compare, as 0.2.1.")],
    corpus: Annotated[str | None, option("corpus", "locomo, longmemeval, canary-locomo or canary-longmemeval.")] = None,
    store: Annotated[str | None, option("store", "The memory under test; pgmnemo is the one with versions.")] = None,
    dsn: Annotated[
        str | None, option("dsn", "A server where databases may be created [default: $PGMNEMO_DSN].")
    ] = None,
    embedder: settings.EmbedderName = None,
    backend: Annotated[
        Literal["auto", "openvino", "torch"], option("backend", "What runs the encoder; auto takes the faster.")
    ] = "auto",
    pgmnemo_function: Annotated[
        Literal["recall_lessons", "recall_hybrid", "recall_fast"] | None,
        option("pgmnemo-function", "What to call of the extension [default: recall_lessons]; others are labelled."),
    ] = None,
    pgmnemo_dates: Annotated[
        Literal["constant", "dataset"] | None,
        option("pgmnemo-dates", "created_at of the rows [default: constant]; the corpus' own dates are labelled."),
    ] = None,
    corpus_file: settings.CorpusFile = None,
    download: Annotated[bool, option("download/--no-download", "Fetch a corpus or weights that are missing.")] = True,
    allow_deviation: Annotated[
        list[str] | None, option("allow-deviation", "Run although `dataset` is not the registered one; labelled.")
    ] = None,
    limit: Annotated[int | None, option("limit", "Ask only the first N questions; labelled.", min=1)] = None,
    scope: Annotated[
        Literal["own", "pooled"], option("scope", "Answer from the question's own haystack, or pooled; labelled.")
    ] = "own",
    out: Annotated[
        Path | None, option("out", "Parent of result folders [default: benchmarks/<corpus>/results].")
    ] = None,
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
    from recallbench.cli.comparison import comparison
    from recallbench.corpora.registry import names
    from recallbench.errors import UsageError
    from recallbench.experiment.options import ALLOWABLE, Options
    from recallbench.experiment.versions import measure_versions

    if corpus is None:
        raise UsageError("no corpus is named", expected="--corpus NAME", remedy=EXAMPLE)
    unknown = sorted(set(allow_deviation or ()) - ALLOWABLE)
    if unknown:
        raise UsageError(
            f"--allow-deviation {unknown[0]} is not needed or not known",
            expected=", ".join(sorted(ALLOWABLE)),
            found=unknown[0],
            remedy="other deviations are options of their own, and are labelled by themselves",
        )
    if len(several := names(corpus)) > 1:
        raise UsageError(f"{corpus} is several corpora", expected=f"one of {', '.join(several)}", found=corpus)
    options = Options(
        corpus=corpus,
        store=store,
        dsn=dsn,
        embedder=embedder,
        backend=backend,
        function=pgmnemo_function,
        dates=pgmnemo_dates,
        corpus_file=corpus_file,
        download=download,
        out=out,
        label=label,
        limit=limit,
        pooled=scope == "pooled",
        allow_deviations=frozenset(allow_deviation or ()),
        cache_dir=cache_dir or settings.default_cache(),
        environ=settings.environment(),
    )
    compared = measure_versions(options, version, listener(quiet), date.today())
    print(comparison(compared.summary, compared.folder), flush=True)
    return 0 if compared.complete else 3
