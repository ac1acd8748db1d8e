"""`recallbench score`: rankings that were made elsewhere, against what is relevant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, argument, command, option, typed
from recallbench.cli.measure.scoring_options import MATCHING, TABLE, of_files
from recallbench.errors import UsageError
from recallbench.escaping import shell
from recallbench.reports.printing.printed import Format

if TYPE_CHECKING:
    from recallbench.results.trec import Ties

EXAMPLES = (
    "Examples: recallbench score run.trec --gold qrels.trec --k 3; recallbench score both.jsonl --by kind --format "
    "markdown; recallbench score old.jsonl --gold gold.jsonl --compare new.jsonl."
)


@command(
    argument(
        "runs",
        "A file of rankings: a TREC run, JSON Lines (query_id or query, and ranked), or {query: {id: score}}.",
        nargs=-1,
        required=True,
        metavar="RUN",
        type=PATH,
    ),
    *of_files(),
    option("compare", "A second file of rankings on the same gold: is it better or worse than RUN?", type=PATH),
    *TABLE,
    *MATCHING,
    options.KEEP_GOING,
    *options.FORMAT,
    options.CONFIG,
    epilog=f"{EXAMPLES} {EPILOG}",
)
def score(runs: tuple[Path, ...], gold: Path | None, **others: Any) -> int:
    """Score rankings made elsewhere: a table by query, its mean with intervals, and what an oracle could reach.

    One JSON Lines file that holds `query`, `relevant` and `ranked` needs no --gold. With --match, hits are judged by
    their texts instead of ids. Exits with 1 where a query failed or a line could not be read, under --keep-going.
    """
    if len(runs) > 1:
        two = shell.command("score", runs[0], "--gold", "GOLD", "--compare", runs[1])
        raise UsageError(
            "score takes one file of rankings",
            expected="RUN, and --compare for a second one",
            found=f"{len(runs)} files",
            remedy=two if len(runs) == 2 else shell.command("table", *runs, "--qrels", "GOLD"),
        )
    if runs[0].is_dir():
        _refuse_folder(runs[0])
    return score_rankings(runs[0], gold, **others)


def _refuse_folder(folder: Path) -> None:
    """Raise UsageError that names the files of a result, or the command for a set of one's own."""
    from recallbench.results.retrievals import GRADED

    run, gold = folder / "run.trec", folder / (GRADED if (folder / GRADED).is_file() else "qrels.trec")
    is_result = run.is_file() and gold.is_file()
    raise UsageError(
        f"{folder} is a folder",
        expected="RUN, a file of rankings",
        found=f"a result, with {run.name} and {gold.name}" if is_result else "no result",
        remedy=shell.command("score", run, "--gold", gold) if is_result else shell.command("evaluate", folder),
    )


def score_rankings(
    run: Path | None, gold: Path | None, *, format: Format, texts: Path | None, ties: Ties, compare: Path | None,
    keep_going: bool, allow_random_matches: bool, **others: Any,
) -> int:  # fmt: skip
    """Score the files as the options say, and print the table; 1 where cases failed."""
    from recallbench.cli.judge.scored_files import RankingFiles, score_files
    from recallbench.cli.measure.score_tables import take_table

    table = take_table(others, format, comparing=compare is not None)
    matching = options.take_matching(others)
    timed = typed("percentiles") is not None
    files = RankingFiles(run, gold, matching, texts, compare, keep_going, timed, ties, allow_random_matches)
    return score_files(files, table)
