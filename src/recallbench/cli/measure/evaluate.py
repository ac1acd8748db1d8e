"""`recallbench evaluate`: a labelled set of one's own (a folder), or rankings that some other tool made (files)."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import click

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, argument, choice, command, is_given, option, typed
from recallbench.corpora.labelled_sets import options as labelled_options
from recallbench.corpora.matching import options as matching_options
from recallbench.errors import UsageError

EXAMPLES = (
    "Examples: recallbench evaluate --run run.trec --gold qrels.trec --k 3; recallbench evaluate --gold gold.jsonl "
    "--by kind --format markdown; recallbench evaluate --run old.jsonl --gold gold.jsonl --compare new.jsonl."
)
OF_FILES = ("run", "gold", "texts", "ties")
"""The options of rankings in files; those of a store are for a folder."""
OF_TABLES = ("k", "by", "ks", "compare", "precision", "ndcg", "percentiles")
"""Options that have a folder's questions shown in a table too."""
OF_MATCHING = ("match", "match_threshold", "match_chunk", "match_embedder", "match_cosine", "allow_random_matches")
OF_BOTH = (*OF_TABLES, *OF_MATCHING, "format", "plot", "keep_going", "target", "quiet", "config")


@command(
    argument(
        "target",
        "The folder of a labelled set, hub:scifact, hub:lmeb#LoCoMo or the like, or hub:OWNER/NAME@<40 hex>.",
        required=False,
        metavar="[DIR]",
    ),
    option("run", "Rankings: a TREC run, JSONL (query_id or query, ranked), or {query: {id: score}}.", type=PATH),
    option(
        "gold", "What is relevant: TREC or BEIR qrels, JSONL (query, relevant), or {query: {id: grade}}.", type=PATH
    ),
    option("k", "Depth of the measures.", type=int, default=10),
    option("by", "Also show the means by `kind`, or by another field of the gold (of DIR: tenant, scope)."),
    choice("format", "How the table is printed.", ["text", "markdown", "csv", "json"], default="text"),
    *options.of_corpus(*matching_options.OPTIONS, *matching_options.COSINE_OPTIONS),
    options.RANDOM_MATCHES,
    option("texts", "The texts behind ids, for --match: JSONL with _id (or id) and text.", type=PATH),
    options.TIES,
    option("ks", "Show precision and recall at these depths, as 1,3,5,10,20, and the best F1."),
    option("plot", "Draw --ks into this SVG file.", type=PATH),
    options.PRECISION,
    choice(
        "ndcg",
        "Average nDCG over all queries with something to find, or over graded ones alone.",
        ["all", "graded"],
        default="all",
    ),
    choice(
        "percentiles",
        f"Of latencies. {options.RULES}",
        options.PERCENTILE_RULES,
        default="nearest-rank",
    ),
    option(
        "compare",
        "A second run on the same gold: is it better or worse than --run? With DIR: an earlier result folder; is the "
        "new result better or worse?",
        type=PATH,
    ),
    *options.of_corpus(*labelled_options.OPTIONS),
    option("stale-after", "With DIR: warn of labels older than this, as 90d, 12w, 6m or 1y."),
    options.VERSION,
    *options.SYSTEM,
    *options.of_stores(),
    options.LIMIT,
    options.DEPTH,
    options.SCOPE,
    options.CONTROLS,
    *options.RESULT,
    options.REQUIRE_QUIET,
    options.CACHE_DIR,
    options.QUIET,
    options.CONFIG,
    epilog=f"{EXAMPLES} {EPILOG}",
)
def evaluate(
    target: str | None,
    run: Path | None,
    gold: Path | None,
    k: int,
    by: str | None,
    format: Any,
    texts: Path | None,
    ties: Any,
    ks: str | None,
    plot: Path | None,
    precision: Any,
    ndcg: Any,
    percentiles: Any,
    compare: Path | None,
    stale_after: str | None,
    keep_going: bool,
    allow_random_matches: bool,
    require_verified: bool,
    require_quiet: bool,
    quiet: bool,
    **others: Any,
) -> int:
    """Score rankings against what is relevant: a table by query, its MEAN, and what an oracle could reach.

    With DIR, a store is run over a labelled set, and a result is written. Each of --k, --by, --ks, --compare,
    --precision, --ndcg and --percentiles adds the table of queries; as Markdown, CSV or JSON only the table is printed.
    With --run and --gold, rankings that were made elsewhere are scored. One JSONL file that holds `query`, `relevant`
    and `ranked` needs --gold alone.
    """
    from recallbench.cases.definitions import Definitions
    from recallbench.cli.measure.labelled_target import take_target
    from recallbench.cli.measure.score_tables import table_options

    if target is not None and (run is not None or gold is not None):
        raise UsageError("a folder and files at once", expected="DIR, or --run FILE and --gold FILE", found="both")
    if target is None and run is None and gold is None:
        raise UsageError(
            "nothing to evaluate",
            expected="DIR, or --run FILE and --gold FILE",
            remedy="recallbench evaluate --run run.trec --gold qrels.trec --k 3",
        )
    _refuse_others(of_folder=target is not None)
    labelled = take_target(target or "", others)
    if ks is None and not typed("plot"):
        plot = None  # a plot that stands in a file or variable for whenever there is one
    definitions = Definitions(precision, ndcg, percentiles)
    table = table_options(k, by, format, ks, plot, definitions, comparing=compare is not None)
    if target is None:
        from recallbench.cli.measure.evaluate_run import RankingFiles, evaluate_run

        timed = typed("percentiles") is not None
        files = RankingFiles(
            run, gold, labelled.matching, texts, compare, keep_going, timed, ties, allow_random_matches
        )
        return evaluate_run(files, table)
    from recallbench.cli.bars import listener
    from recallbench.cli.measure.evaluate_set import evaluate_set

    return evaluate_set(
        labelled,
        options.run_options(keep_going=keep_going, allow_random_matches=allow_random_matches, **others),
        listener(quiet),
        date.today(),
        table=table if format != "text" or is_given(*OF_TABLES) else None,
        compare=compare,
        stale_after=stale_after,
        require_verified=require_verified,
        require_quiet=require_quiet,
    )


def _refuse_others(*, of_folder: bool) -> None:
    """Raise UsageError for an option that was typed and would do nothing."""
    names = [name for name in click.get_current_context().params if name not in OF_BOTH]
    if unfitting := typed(*(name for name in names if (name in OF_FILES) == of_folder)):
        raise UsageError(
            f"{unfitting} is for {'rankings in files' if of_folder else 'a labelled set'}",
            expected="--run FILE and --gold FILE" if of_folder else "a folder, DIR",
            found="a folder" if of_folder else "files",
            remedy=f"leave {unfitting} out",
        )
