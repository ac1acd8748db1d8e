"""`recallbench sample`: draw logged recalls to label, and score the log by them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallbench.cli import options
from recallbench.cli.command import PATH, VARIABLES, Whole, argument, choice, command, flag, option, typed
from recallbench.corpora.matching import options as matching_options
from recallbench.escaping.document import plain
from recallbench.escaping.terminal import visible
from recallbench.reports.table import print_parts
from recallbench.scoring.depth import DEEPEST

if TYPE_CHECKING:
    from recallbench.corpora.matching.method import Matching
    from recallbench.corpora.recall_log import RecallLog
    from recallbench.scoring.quantiles import Rule

EXAMPLES = (
    "Examples: recallbench sample recalls.jsonl --n 200 --by kind --out sample.jsonl; recallbench label DIR --queries "
    "sample.jsonl; recallbench sample recalls.jsonl --labels DIR/gold.jsonl; … --labels expected.jsonl --match tokens."
)
MEASURES = ("recall_any", "recall_frac", "precision", "mrr", "ndcg")


@command(
    argument(
        "log", "Logged recalls, JSON lines with query and ids.", nargs=-1, required=True, metavar="LOG...", type=PATH
    ),
    option("n", "How many distinct queries to draw.", type=Whole(1), default=200),
    option("by", "The field that groups recalls: each of its values is drawn from.", default="kind"),
    option("seed", "The seed by which queries are drawn.", type=int, default=42),
    option("out", "Where to write the sample [default: print it].", type=PATH),
    option("labels", "The labelled sample: score the log by it, and draw nothing.", type=PATH),
    option("k", "Depth of the measures, with --labels.", type=Whole(1, DEEPEST), default=10),
    *options.of_corpus(*matching_options.LOG_OPTIONS),
    options.RANDOM_MATCHES,
    options.PRECISION,
    choice(
        "percentiles",
        f"Of latencies, with --labels. {options.RULES}",
        options.PERCENTILE_RULES,
        default="nearest-rank",
    ),
    flag("skip-bad", "Pass over lines that can't be read as a recall, and count them."),
    choice("format", "How scores are printed.", ["text", "markdown", "json"], default="text"),
    epilog=f"{EXAMPLES} {VARIABLES}",
)
def sample(
    log: tuple[Path, ...],
    n: int,
    by: str,
    seed: int,
    out: Path | None,
    labels: Path | None,
    k: int,
    precision: str,
    percentiles: Rule,
    skip_bad: bool,
    format: str,
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

    if labels is not None and out is not None:
        raise UsageError("--out is for the sample", expected="--labels FILE, or --out FILE", found="both")
    of_scores = ("match", "match_threshold", "match_chunk", "allow_random_matches", "precision", "percentiles")
    if labels is None and (unfitting := typed(*of_scores)):
        raise UsageError(f"{unfitting} is for scoring", expected="--labels FILE", found="no labels")
    matching = options.take_matching(of_matching, of_log=True)
    if out is not None and out.exists():
        raise UsageError(
            f"{out} exists already", expected="a new file: labels are never overwritten", found="an existing file",
            remedy="name another --out",
        )  # fmt: skip
    read = RecallLog(log, by, skip_bad)
    if labels is None:
        done = _draw(read, n, seed, out)
    else:
        over = {"precision": "(retrieved)"} if precision == "retrieved" else {}
        measures = [f"{name}@{k}{over.get(name, '')}" for name in MEASURES]
        done = _score(read, labels, measures, matching, percentiles, format, allow_random_matches)
    for problem in read.first_problems:
        print(f"recallbench: passed over: {visible(problem)}", file=sys.stderr)
    if read.bad:
        print(f"recallbench: {describe_skipped(read.bad.total())}", file=sys.stderr)
    return done


def _draw(log: RecallLog, n: int, seed: int, out: Path | None) -> int:
    from recallbench.cli.output_file import write_output
    from recallbench.studies.logs.sampling import draw_sample

    drawn = draw_sample(log, n, seed)
    text = "".join(f"{line}\n" for line in drawn.lines())
    if out is None:
        print(text, end="")
    else:
        write_output(out, text, overwrite=False)
    parts = ", ".join(
        f"{name or '(none)'} {drawn.sample_sizes[name]} of {count} {'recall' if count == 1 else 'recalls'}"
        for name, count in sorted(drawn.recalls.items())
    )
    count = len(drawn.queries)
    summary = f"recallbench: {count} {'query' if count == 1 else 'queries'} by {log.by}: {parts}"
    print(visible(summary), file=sys.stderr)
    return 0


def _score(
    log: RecallLog,
    labels: Path,
    measures: list[str],
    matching: Matching,
    percentiles: Rule,
    format: str,
    allow_random_matches: bool,
) -> int:
    from recallbench.reports import log_scores
    from recallbench.scoring.measures.registry import parse
    from recallbench.studies.logs.scoring import score

    scores = score(
        log, labels, list(map(parse, measures)), matching, percentiles, allow_random_matches=allow_random_matches
    )
    if format == "json":
        print(plain(scores.model_dump_json(indent=1)))
    elif format == "markdown":
        print(log_scores.markdown(scores), end="")
    else:
        below = [
            *log_scores.matched(scores),
            *log_scores.intervals(scores),
            *log_scores.abstention(scores),
            *scores.notes,
        ]
        print_parts(log_scores.table(scores), "", *below)
    return 0
