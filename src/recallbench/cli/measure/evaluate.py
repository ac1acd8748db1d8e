"""`recallbench evaluate`: a labelled set of one's own (a folder), or rankings that some other tool made (files)."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import typer

from recallbench.cli import settings
from recallbench.cli.settings import option

EXAMPLES = (
    "Examples: recallbench evaluate --run run.trec --gold qrels.trec --k 3; recallbench evaluate --gold gold.jsonl "
    "--by kind --format markdown; recallbench evaluate --run old.jsonl --gold gold.jsonl --compare new.jsonl."
)


OF_FILES = ("run", "gold", "texts", "ties")
"""The options of rankings in files; those of a store are for a folder."""
OF_TABLES = ("k", "by", "ks", "compare", "precision", "ndcg", "percentiles")
"""With one of these a folder's questions are shown in a table too."""
OF_MATCHING = ("match", "match_threshold", "match_chunk", "match_embedder", "match_cosine")
OF_BOTH = (*OF_TABLES, *OF_MATCHING, "format", "plot", "keep_going")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate", epilog=f"{EXAMPLES} {settings.EPILOG}")(evaluate)


@settings.takes_store_options()
def evaluate(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="DIR", help="The folder of a labelled set, hub:scifact or the like, or hub:OWNER/NAME@<40 hex>."
        ),
    ] = None,
    run: Annotated[
        Path | None, option("run", "Rankings: a TREC run, JSONL (query_id or query, ranked), or {query: {id: score}}.")
    ] = None,
    gold: Annotated[
        Path | None,
        option("gold", "What is relevant: TREC or BEIR qrels, JSONL (query, relevant), or {query: {id: grade}}."),
    ] = None,
    k: Annotated[int, option("k", "Depth of the measures.")] = 10,
    by: Annotated[
        str | None, option("by", "Also the means per `kind`, or per any other field of the gold (DIR: tenant, scope).")
    ] = None,
    format: Annotated[
        Literal["text", "markdown", "csv", "json"], option("format", "How the table is printed.")
    ] = "text",
    match: settings.Match = "id",
    match_threshold: settings.MatchThreshold = None,
    match_chunk: settings.MatchChunk = None,
    match_embedder: settings.MatchEmbedder = None,
    match_cosine: settings.MatchCosine = None,
    texts: Annotated[
        Path | None, option("texts", "The texts of ids, for --match: JSONL with _id (or id) and text.")
    ] = None,
    ties: settings.Ties = "file",
    ks: Annotated[
        str | None, option("ks", "Precision and recall against these depths, as 1,3,5,10,20, and the best F1.")
    ] = None,
    plot: Annotated[Path | None, option("plot", "Draw --ks into this SVG file.")] = None,
    precision: settings.Precision = "k",
    ndcg: settings.NdcgOver = "all",
    percentiles: Annotated[
        Literal["nearest-rank", "index"] | None,
        option("percentiles", f"Also p50 and p95 of the queries that were timed. {settings.RULES}"),
    ] = None,
    compare: Annotated[
        Path | None,
        option(
            "compare",
            "A second run on the same gold: did the change from --run to it help? With DIR: an earlier result "
            "folder; did the change from it help?",
        ),
    ] = None,
    keep_going: settings.KeepGoing = False,
    split: settings.Split = None,
    qrels_revision: settings.QrelsRevision = None,
    pin: settings.Pin = None,
    stale_after: Annotated[
        str | None, option("stale-after", "Of a folder: warn of labels older than this, as 90d, 12w, 6m or 1y.")
    ] = None,
    version: settings.Version = None,
    store: settings.Store = None,
    dsn: settings.Dsn = None,
    embedder: settings.EmbedderName = None,
    backend: settings.Backend = "auto",
    store_options: settings.StoreOptions = settings.NO_STORE_OPTIONS,
    limit: settings.Limit = None,
    depth: settings.Depth = 50,
    scope: settings.Scope = "own",
    out: settings.Out = None,
    folder: settings.Folder = None,
    label: settings.Label = None,
    with_text: settings.WithText = False,
    require_verified: settings.RequireVerified = False,
    cache_dir: settings.CacheDir = None,
    quiet: settings.Quiet = False,
    config: settings.Config = None,
) -> int:
    """Score rankings against what is relevant: a table by query, its MEAN, and what an oracle could reach.

    With a folder a store is run over a labelled set, and leaves a result; --k, --by, --ks, --compare, --precision,
    --ndcg or --percentiles add the table, and in Markdown, CSV and JSON it is all that is printed. With --run and
    --gold rankings that were made elsewhere are scored as they stand; one JSONL file that holds `query`, `relevant` and
    `ranked` needs --gold alone.
    """
    from recallbench.cases.definitions import Definitions
    from recallbench.cli.measure.score_tables import Wanted
    from recallbench.errors import UsageError

    if target is not None and (run is not None or gold is not None):
        raise UsageError("a folder and files at once", expected="DIR, or --run FILE and --gold FILE", found="both")
    if target is None and run is None and gold is None:
        raise UsageError(
            "nothing to evaluate",
            expected="DIR, or --run FILE and --gold FILE",
            remedy="recallbench evaluate --run run.trec --gold qrels.trec --k 3",
        )
    _refuse_others(context, target)
    matching = settings.matching(context, match, match_threshold, match_chunk, match_embedder, match_cosine)
    if ks is None and not settings.typed(context, "plot"):
        plot = None  # a plot that stands in a file or variable for whenever there is one
    definitions = Definitions(precision, ndcg, percentiles)
    wanted = Wanted.of(k, by, format, ks, plot, definitions, comparing=compare is not None)
    if target is not None:
        from recallbench.cli.bars import listener
        from recallbench.cli.measure.evaluate_set import evaluate_set
        from recallbench.cli.measure.labelled_target import Target
        from recallbench.runs.options import Options

        options = Options(
            corpus="",
            version=version,
            store=store,
            dsn=dsn,
            embedder=embedder,
            backend=backend,
            store_options=store_options,
            out=out,
            folder=folder,
            label=label,
            limit=limit,
            depth=depth,
            pooled=scope == "pooled",
            with_text=with_text,
            keep_going=keep_going,
            cache_dir=cache_dir or settings.default_cache(),
            environ=settings.environment(),
        )
        tables = format != "text" or settings.given(context, *OF_TABLES)
        return evaluate_set(
            Target(target, split, matching, qrels_revision, pin or ()),
            options,
            listener(quiet),
            date.today(),
            wanted=wanted if tables else None,
            compare=compare,
            stale_after=stale_after,
            require_verified=require_verified,
        )
    from recallbench.cli.measure.evaluate_run import Asked, evaluate_run

    timed = settings.typed(context, "percentiles") is not None
    return evaluate_run(Asked(run, gold, matching, texts, compare, keep_going, timed, ties), wanted)


def _refuse_others(context: typer.Context, target: str | None) -> None:
    """Raise UsageError for an option that was typed and would do nothing."""
    from recallbench.errors import UsageError

    folder = target is not None
    others = [one for one in context.params if one not in OF_BOTH and (one in OF_FILES) == folder]
    if option := settings.typed(context, *(one for one in others if one not in ("target", "quiet", "config"))):
        raise UsageError(
            f"{option} is for {'rankings in files' if folder else 'a labelled set'}",
            expected="--run FILE and --gold FILE" if folder else "a folder, DIR",
            found="a folder" if folder else "files",
            remedy=f"leave {option} out",
        )
