"""`recallbench evaluate`: a labelled set of one's own (a folder), or rankings that some other tool made (files)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from recallbench.cli import settings
from recallbench.cli.settings import option

EXAMPLES = (
    "Examples: recallbench evaluate --run run.trec --gold qrels.trec --k 3; recallbench evaluate --gold gold.jsonl "
    "--by kind --format markdown; recallbench evaluate --run new.jsonl --gold gold.jsonl --compare old.jsonl."
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate", epilog=f"{EXAMPLES} {settings.EPILOG}")(evaluate)


def evaluate(
    target: Annotated[Path | None, typer.Argument(metavar="DIR", help="The folder of a labelled set.")] = None,
    run: Annotated[
        Path | None, option("run", "Rankings: a TREC run, JSONL (query_id or query, ranked), or {query: {id: score}}.")
    ] = None,
    gold: Annotated[
        Path | None,
        option("gold", "What is relevant: TREC or BEIR qrels, JSONL (query, relevant), or {query: {id: grade}}."),
    ] = None,
    k: Annotated[int, option("k", "Depth of the measures.")] = 10,
    by: Annotated[str | None, option("by", "Also the means per `kind`, or per any other field of the gold.")] = None,
    format: Annotated[
        Literal["text", "markdown", "csv", "json"], option("format", "How the table is printed.")
    ] = "text",
    match: Annotated[
        Literal["id", "exact", "tokens"],
        option("match", "What makes a hit relevant: its id, or its text beside the expected one."),
    ] = "id",
    match_threshold: Annotated[
        float, option("match-threshold", "Token F1 that counts as a match: 0.5 is strict, 0.1 exploratory.")
    ] = 0.3,
    match_chunk: Annotated[
        int | None, option("match-chunk", "Match chunks of so many tokens, the best one counts [default: whole texts].")
    ] = None,
    texts: Annotated[
        Path | None, option("texts", "The texts of ids, for --match: JSONL with _id (or id) and text.")
    ] = None,
    ks: Annotated[
        str | None, option("ks", "Precision and recall against these depths, as 1,3,5,10,20, and the best F1.")
    ] = None,
    plot: Annotated[Path | None, option("plot", "Draw --ks into this SVG file.")] = None,
    compare: Annotated[
        Path | None, option("compare", "A run to hold against, on the same gold: did the change to --run help?")
    ] = None,
    keep_going: Annotated[
        bool, option("keep-going", "Score a case that fails as an empty ranking, name it, and exit 1.")
    ] = False,
    config: settings.Config = None,
) -> int:
    """Score rankings against what is relevant: a table by query, its MEAN, and what an oracle could reach.

    With a folder a store is run over a labelled set. With --run and --gold rankings that were made elsewhere are scored
    as they stand; one JSONL file that holds `query`, `relevant` and `ranked` needs --gold alone.
    """
    from recallbench.errors import UsageError

    if target is not None and (run is not None or gold is not None):
        raise UsageError("a folder and files at once", expected="DIR, or --run FILE and --gold FILE", found="both")
    if target is None and run is None and gold is None:
        raise UsageError(
            "nothing to evaluate",
            expected="DIR, or --run FILE and --gold FILE",
            remedy="recallbench evaluate --run run.trec --gold qrels.trec --k 3",
        )
    if target is not None:
        try:
            from recallbench.cli import evaluate_set  # type: ignore[attr-defined,unused-ignore]
        except ImportError:
            raise UsageError(
                "a labelled set can't be run yet", expected="--run FILE and --gold FILE", found=str(target)
            ) from None
        return int(evaluate_set.evaluate_set(target))
    from recallbench.cli.evaluate_run import Asked, evaluate_run

    return evaluate_run(
        Asked(
            run=run,
            gold=gold,
            k=k,
            by=by,
            format=format,
            match=match,
            match_threshold=match_threshold,
            match_chunk=match_chunk,
            texts=texts,
            ks=ks,
            plot=plot,
            compare=compare,
            keep_going=keep_going,
        )
    )
