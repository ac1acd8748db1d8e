"""`recallbench grow`: the same questions over larger haystacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from recallbench.cli import settings
from recallbench.cli.columns import columns
from recallbench.cli.settings import option


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("grow", epilog=settings.EPILOG)(grow)


def grow(
    corpus: Annotated[str, typer.Argument(help="locomo, longmemeval, canary-locomo, …, or a labelled set's folder.")],
    factors: Annotated[str, option("factors", "Sizes of the haystacks, as times their own.")] = "1,2,5,10",
    distractors: Annotated[
        Path | None,
        option("distractors", "Documents to add (JSON lines with _id and text) [default: the other haystacks']."),
    ] = None,
    seed: Annotated[int, option("seed", "Which of them are drawn.")] = 42,
    store: settings.Store = None,
    dsn: settings.Dsn = None,
    embedder: settings.EmbedderName = None,
    backend: settings.Backend = "auto",
    weights: settings.Weights = None,
    call: settings.Call = None,
    pgmnemo_function: settings.PgmnemoFunction = None,
    corpus_file: settings.CorpusFile = None,
    download: settings.Download = True,
    allow_deviation: settings.AllowDeviation = None,
    limit: settings.Limit = None,
    depth: settings.Depth = 50,
    format: Annotated[Literal["text", "markdown", "json"], option("format", "How the table is printed.")] = "text",
    plot: Annotated[Path | None, option("plot", "Draw recall and p95 against the size into this SVG file.")] = None,
    cache_dir: settings.CacheDir = None,
    quiet: settings.Quiet = False,
    config: settings.Config = None,
) -> int:
    """Add documents that answer nothing to every haystack, ask again, and show recall and p95 against the size.

    No result folder is written: a grown haystack is no corpus that anything could be compared with.
    """
    from recallbench.cli.bars import listener
    from recallbench.corpora.labelled import identity
    from recallbench.corpora.registry import names
    from recallbench.errors import UsageError
    from recallbench.experiment.growth import growth
    from recallbench.experiment.options import Options
    from recallbench.results.growth import document, drawn, markdown, notes, rows

    words = factors.split(",")
    if not all(word.strip().isdigit() and int(word) > 0 for word in words):
        raise UsageError(
            f"--factors {factors} are no sizes", expected="whole numbers, as 1,2,5,10", found=factors, remedy="1,2,5,10"
        )
    name, file = (identity(Path(corpus)), Path(corpus)) if Path(corpus).is_dir() else (corpus, corpus_file)
    if not Path(corpus).is_dir() and len(several := names(corpus)) > 1:
        raise UsageError(f"{corpus} is several corpora", expected=f"one of {', '.join(several)}", found=corpus)
    options = Options(
        corpus=name,
        store=store,
        dsn=dsn,
        embedder=embedder,
        backend=backend,
        weights=weights,
        call=call,
        function=pgmnemo_function,
        corpus_file=file,
        download=download,
        limit=limit,
        depth=depth,
        allow_deviations=settings.allowed(allow_deviation),
        cache_dir=cache_dir or settings.default_cache(),
        environ=settings.environment(),
    )
    found = growth(options, sorted({int(word) for word in words}), distractors, seed, listener(quiet))
    if format == "json":
        print(json.dumps(document(found), indent=1))
    elif format == "markdown":
        print(markdown(found), end="")
    else:
        print("\n".join([*columns(rows(found)), *notes(found)]))
    if plot is not None:
        plot.write_text(drawn(found), encoding="utf-8")
    return 0
