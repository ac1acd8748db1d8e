"""`recallbench grow`: the same questions over larger haystacks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from recallbench.cli import settings
from recallbench.cli.settings import option
from recallbench.reports.table import print_parts

EXAMPLES = (
    "Examples: recallbench grow locomo --store bm25; recallbench grow DIR --distractors more.jsonl --match tokens "
    "--match-chunk 60."
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("grow", epilog=f"{EXAMPLES} {settings.EPILOG}")(grow)


@settings.takes_store_options()
def grow(
    context: typer.Context,
    corpus: Annotated[
        str,
        typer.Argument(
            help="locomo, longmemeval, canary-locomo, …, or a labelled set: DIR, or hub:OWNER/NAME@<40 hex digits>."
        ),
    ],
    factors: Annotated[str, option("factors", "Sizes of the haystacks, as times their own.")] = "1,2,5,10",
    distractors: Annotated[
        Path | None,
        option("distractors", "Documents to add (JSON lines with _id and text) [default: the other haystacks']."),
    ] = None,
    seed: Annotated[int, option("seed", "Which of them are drawn.")] = 42,
    match: settings.Match = "id",
    match_threshold: settings.MatchThreshold = None,
    match_chunk: settings.MatchChunk = None,
    split: settings.Split = None,
    qrels_revision: settings.QrelsRevision = None,
    pin: settings.Pin = None,
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
    format: Annotated[Literal["text", "markdown", "json"], option("format", "How the table is printed.")] = "text",
    plot: Annotated[Path | None, option("plot", "Draw recall and p95 against the size into this SVG file.")] = None,
    cache_dir: settings.CacheDir = None,
    quiet: settings.Quiet = False,
    config: settings.Config = None,
) -> int:
    """Add documents that answer nothing to every haystack, ask again, and show recall and p95 against the size.

    No result folder is written: a grown haystack is no corpus that anything could be compared with. With --match a
    document that matches what a query of a haystack expects is no distractor there: it is not added, and counted.
    """
    from recallbench.cli.bars import listener
    from recallbench.cli.measure.labelled_target import Target, of_hub
    from recallbench.corpora.registry import names
    from recallbench.errors import UsageError
    from recallbench.reports.growth import document, markdown, notes, picture, table
    from recallbench.runs.options import Options
    from recallbench.studies.growth import growth

    words = factors.split(",")
    if not all(word.strip().isdigit() and int(word) > 0 for word in words):
        raise UsageError(
            f"--factors {factors} are no sizes", expected="whole numbers, as 1,2,5,10", found=factors, remedy="1,2,5,10"
        )
    asked = Target(
        corpus, split, settings.matching(context, match, match_threshold, match_chunk), qrels_revision, pin or ()
    )
    labelled = of_hub(corpus) or Path(corpus).is_dir()
    if not labelled and len(several := names(corpus)) > 1:
        raise UsageError(f"{corpus} is several corpora", expected=f"one of {', '.join(several)}", found=corpus)
    unfit = ("corpus_file",) if labelled else ("match", "match_chunk", "split", "qrels_revision", "pin")
    if option_of_others := settings.typed(context, *unfit):
        raise UsageError(
            f"{option_of_others} is for a {'registered corpus' if labelled else 'labelled set'}",
            expected="locomo, longmemeval or the like" if labelled else "a folder, or hub:OWNER/NAME@<40 hex digits>",
            found=corpus,
            remedy=f"leave {option_of_others} out",
        )
    options = Options(
        corpus=corpus,
        store=store,
        dsn=dsn,
        embedder=embedder,
        backend=backend,
        store_options=store_options,
        corpus_file=corpus_file,
        download=download,
        limit=limit,
        depth=depth,
        allow_deviations=settings.allowed(allow_deviation),
        cache_dir=cache_dir or settings.default_cache(),
        environ=settings.environment(),
    )
    progress = listener(quiet)
    if labelled:
        name, folder = asked.obtain(options, progress)
        options = replace(options, corpus=name, corpus_file=folder)
    found = growth(options, sorted({int(word) for word in words}), distractors, seed, progress)
    if format == "json":
        print(json.dumps(document(found), indent=1))
    elif format == "markdown":
        print(markdown(found), end="")
    else:
        print_parts(table(found), *notes(found))
    if plot is not None:
        plot.write_text(picture(found), encoding="utf-8")
    return 0
