"""`recallbench evaluate`: a store over questions and answers of one's own, in a folder.

The form with --run and --gold, which scores rankings in files, is another spelling of `recallbench score`.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import click

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, argument, command, is_given, option, typed
from recallbench.cli.engine_options import ENGINE
from recallbench.cli.measure.scoring_options import MATCHING, TABLE, of_files
from recallbench.corpora.labelled_sets import options as labelled_options
from recallbench.errors import UsageError
from recallbench.reports.printing.printed import Format

EXAMPLES = (
    "Examples: recallbench evaluate team --store bm25; recallbench evaluate team --k 5 --by kind; recallbench evaluate "
    "team --compare results/earlier. Rankings made elsewhere: recallbench score RUN --gold GOLD."
)
OF_FILES = ("run", "gold", "texts", "ties")
"""The options of rankings in files, which `score` has; those of a store are for a folder."""
OF_TABLES = ("k", "by", "ks", "precision", "ndcg", "percentiles")
"""Options that have a folder's questions shown in a table too, as --compare has."""
OF_MATCHING = ("match", "match_threshold", "match_chunk", "match_embedder", "match_cosine", "allow_random_matches")
OF_BOTH = (*OF_TABLES, *OF_MATCHING, "compare", "format", "plot", "keep_going", "target", "quiet", "config")


@command(
    argument(
        "target",
        "The folder of your own set (corpus.jsonl, and gold.jsonl or qrels), or one of the hub: hub:scifact, "
        "hub:lmeb#LoCoMo or the like, or hub:OWNER/NAME@<40 hex>.",
        required=False,
        metavar="[DIR]",
    ),
    option("run", "The RUN of `recallbench score`.", type=PATH, hidden=True),
    *of_files(hidden=True),
    *TABLE,
    *MATCHING,
    option(
        "compare",
        "An earlier result folder over the same set: is the new result better or worse?",
        type=PATH,
    ),
    *options.of_corpus(*labelled_options.OPTIONS),
    option("stale-after", "Warn of labels that are older than this, as 90d, 12w, 6m or 1y."),
    options.VERSION,
    *options.of_system(),
    options.LIMIT,
    options.DEPTH,
    options.SCOPE,
    options.CONTROLS,
    *ENGINE,
    *options.RESULT,
    options.LABELS,
    options.REQUIRE_QUIET,
    *options.GENERAL,
    epilog=f"{EXAMPLES} {EPILOG}",
)
def evaluate(
    target: str | None,
    run: Path | None,
    gold: Path | None,
    texts: Path | None,
    ties: Any,
    compare: Path | None,
    format: Format,
    stale_after: str | None,
    require_verified: bool,
    labels: bool,
    require_quiet: bool,
    quiet: bool,
    **others: Any,
) -> int:
    """Measure a store on your own questions and answers, and write a result folder that proves the number.

    Each of --k, --by, --ks, --compare, --precision, --ndcg and --percentiles adds a table of the queries; as Markdown,
    CSV, JSON or HTML only that table is printed.
    """
    from recallbench.cli.bars import listener
    from recallbench.cli.judge.score import score_rankings
    from recallbench.cli.measure.evaluate_set import evaluate_set
    from recallbench.cli.measure.labelled_target import take_target
    from recallbench.cli.measure.score_tables import take_table

    if target is not None and (run is not None or gold is not None):
        raise UsageError(
            "a folder and files at once",
            expected="DIR, or files: recallbench score RUN --gold GOLD",
            found="both",
        )
    if target is None and run is None and gold is None:
        raise UsageError(
            "nothing to evaluate",
            expected="DIR, the folder of your own set",
            remedy="recallbench evaluate DIR; rankings made elsewhere: recallbench score RUN --gold GOLD",
        )
    _refuse_others(of_folder=target is not None)
    if target is None:
        named = {name: others[name] for name in (*OF_TABLES, *OF_MATCHING, "plot", "keep_going")}
        return score_rankings(run, gold, format=format, texts=texts, ties=ties, compare=compare, **named)
    labelled = take_target(target, others)
    table = take_table(others, format, comparing=compare is not None)
    return evaluate_set(
        labelled,
        options.run_options(**others),
        listener(quiet),
        date.today(),
        table=table if format != "text" or is_given("compare", *OF_TABLES) else None,
        compare=compare,
        stale_after=stale_after,
        require_verified=require_verified,
        labels=labels,
        require_quiet=require_quiet,
    )


def _refuse_others(*, of_folder: bool) -> None:
    """Raise UsageError for an option that was typed and would do nothing."""
    names = [name for name in click.get_current_context().params if name not in OF_BOTH]
    if unfitting := typed(*(name for name in names if (name in OF_FILES) == of_folder)):
        raise UsageError(
            f"{unfitting} is for {'rankings in files' if of_folder else 'a set of your own'}",
            expected="recallbench score RUN --gold GOLD" if of_folder else "recallbench evaluate DIR",
            found="a folder" if of_folder else "files",
            remedy=f"leave {unfitting} out",
        )
