"""`recallbench sample`: draw logged recalls to label, and score the log by them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallbench.cli import options
from recallbench.cli.command import PATH, VARIABLES, Whole, argument, choice, command, flag, former, option, typed
from recallbench.cli.printing import show
from recallbench.corpora.matching import options as matching_options
from recallbench.escaping.terminal import visible
from recallbench.reports.printing.printed import Format, Printed
from recallbench.scoring.depth import DEEPEST

if TYPE_CHECKING:
    from recallbench.corpora.matching.method import Matching
    from recallbench.corpora.recall_log import RecallLog
    from recallbench.scoring.quantiles import Rule

EXAMPLES = (
    "Examples: recallbench sample recalls.jsonl --n 200 --by kind --save sample.jsonl; recallbench label DIR --queries "
    "sample.jsonl; recallbench sample recalls.jsonl --labels DIR/gold.jsonl; … --labels expected.jsonl --match tokens."
)
MEASURES = ("recall_any", "recall_frac", "precision", "mrr", "ndcg")


@command(
    argument(
        "log",
        "Files of logged recalls: JSON Lines with query and ids.",
        nargs=-1,
        required=True,
        metavar="LOG...",
        type=PATH,
    ),
    option("n", "How many distinct queries to draw.", type=Whole(1), default=200),
    option("by", "The field that groups recalls: each of its values is drawn from.", default="kind"),
    option("seed", "The seed by which queries are drawn.", type=int, default=42),
    option("save", "The file that the sample is written to [default: print it].", type=PATH),
    former("out", "save", type=PATH),
    option("labels", "The sample with its answers: score the log by it, and draw nothing.", type=PATH),
    option("k", options.K_HELP, type=Whole(1, DEEPEST), default=10),
    *options.of_corpus(*matching_options.LOG_OPTIONS),
    options.RANDOM_MATCHES,
    options.PRECISION,
    choice(
        "percentiles",
        f"How percentiles of latencies are defined, with --labels. {options.RULES}",
        options.PERCENTILE_RULES,
        default="nearest-rank",
    ),
    flag("skip-bad", "Pass over lines that can't be read as a recall, and count them."),
    *options.FORMAT,
    epilog=f"{EXAMPLES} {VARIABLES}",
)
def sample(
    log: tuple[Path, ...],
    n: int,
    by: str,
    seed: int,
    save: Path | None,
    labels: Path | None,
    k: int,
    precision: str,
    percentiles: Rule,
    skip_bad: bool,
    format: Format,
    allow_random_matches: bool,
    **of_matching: Any,
) -> int:
    """Draw a stratified, seeded sample of logged recalls to label; later score the log itself by these labels.

    A line of the log has query and ids (best first), and may have kind, ms (or timings), at, scores, texts, scope and
    tenant. Each kind gets a part of the sample by its number of recalls, and at least one query; no query is drawn
    twice. The order of lines decides nothing, and memory does not grow with the log. With --labels each kind counts
    by its recalls, so that the estimate is of the whole log. With --match the labels' `expected` is compared with
    the log's texts; the first that matches is the find.
    """
    from recallbench.corpora.recall_log import RecallLog, describe_skipped
    from recallbench.errors import UsageError
    from recallbench.whole_file import check_place

    if labels is not None and save is not None:
        raise UsageError("--save is for the sample", expected="--labels FILE, or --save FILE", found="both")
    of_scores = ("k", "match", "match_threshold", "match_chunk", "allow_random_matches", "precision", "percentiles")
    if labels is None and (unfitting := typed(*of_scores)):
        raise UsageError(f"{unfitting} is for scoring", expected="--labels FILE", found="no labels")
    matching = options.take_matching(of_matching, of_log=True)
    if save is not None and save.exists():
        raise UsageError(
            f"{save} exists already", expected="a new file: labels are never overwritten", found="an existing file",
            remedy="name another --save",
        )  # fmt: skip
    if save is not None:
        check_place(save)
    read = RecallLog(log, by, skip_bad)
    if labels is None:
        done = _draw(read, n, seed, save, format)
    else:
        over = {"precision": "(retrieved)"} if precision == "retrieved" else {}
        measures = [f"{name}@{k}{over.get(name, '')}" for name in MEASURES]
        done = _score(read, labels, measures, matching, percentiles, format, allow_random_matches)
    for problem in read.first_problems:
        print(f"recallbench: passed over: {visible(problem)}", file=sys.stderr)
    if read.bad:
        print(f"recallbench: {describe_skipped(read.bad.total())}", file=sys.stderr)
    return done


def _draw(log: RecallLog, n: int, seed: int, save: Path | None, format: Format) -> int:
    from recallbench.cli.printing import conclude
    from recallbench.studies.logs.sampled import conclusion, sample_table
    from recallbench.studies.logs.sampling import draw_sample
    from recallbench.whole_file import write_output

    drawn = draw_sample(log, n, seed)
    text = "".join(f"{line}\n" for line in drawn.lines())
    if save is None and format == "text":
        print(text, end="")
    elif save is not None:
        write_output(save, text, overwrite=False)
    parts = ", ".join(
        f"{name or '(none)'} {drawn.sample_sizes[name]} of {count} {'recall' if count == 1 else 'recalls'}"
        for name, count in sorted(drawn.recalls.items())
    )
    count = len(drawn.queries)
    summary = f"recallbench: {count} {'query' if count == 1 else 'queries'} by {log.by}: {parts}"
    print(visible(summary), file=sys.stderr)
    told = conclusion(drawn, log.by, save)
    if format == "text":
        # The sample itself is JSON Lines, and alone on stdout.
        conclude(told, sys.stderr if save is None else sys.stdout)
        return 0
    document = {
        "by": log.by,
        "recalls": dict(drawn.recalls),
        "drawn": dict(drawn.sample_sizes),
        "queries": [query.record() for query in drawn.queries],
    }
    show(Printed("A sample of logged recalls", [sample_table(drawn)], document, told), format)
    return 0


def _score(
    log: RecallLog,
    labels: Path,
    measures: list[str],
    matching: Matching,
    percentiles: Rule,
    format: Format,
    allow_random_matches: bool,
) -> int:
    from recallbench.reports import log_scores
    from recallbench.scoring.measures.registry import parse
    from recallbench.studies.logs.scoring import score

    scores = score(
        log, labels, list(map(parse, measures)), matching, percentiles, allow_random_matches=allow_random_matches
    )
    printed = Printed(
        "A log, scored by a sample of it",
        [log_scores.table(scores), "", *log_scores.remarks(scores)],
        scores.model_dump(mode="json"),
        log_scores.conclusion(scores),
        own_markdown=log_scores.markdown(scores),
    )
    show(printed, format)
    return 0
