"""`recallbench sample`: draw logged recalls to label, and score the log by them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from recallbench.cli import settings
from recallbench.cli.settings import option
from recallbench.escaping.document import plain
from recallbench.escaping.terminal import visible
from recallbench.reports.table import print_parts
from recallbench.scoring.depth import DEEPEST

if TYPE_CHECKING:
    from recallbench.corpora.matching.method import Matching
    from recallbench.corpora.recall_log import RecallLog
    from recallbench.scoring.quantiles import Rule

EPILOG = (
    "Examples: recallbench sample recalls.jsonl --n 200 --by kind --out sample.jsonl; recallbench label DIR --queries "
    "sample.jsonl; recallbench sample recalls.jsonl --labels DIR/gold.jsonl; … --labels expected.jsonl --match tokens. "
    "Options are also variables RECALLBENCH_<NAME>."
)
MEASURES = ("recall_any", "recall_frac", "precision", "mrr", "ndcg")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("sample", epilog=EPILOG)(sample)


def sample(
    context: typer.Context,
    log: Annotated[list[Path], typer.Argument(metavar="LOG...", help="Logged recalls, JSON lines with query and ids.")],
    n: Annotated[int, option("n", "How many distinct queries to draw.", min=1)] = 200,
    by: Annotated[str, option("by", "The field that recalls are told apart by: each of its values is drawn.")] = "kind",
    seed: Annotated[int, option("seed", "Another one draws other queries.")] = 42,
    out: Annotated[Path | None, option("out", "Where to write the sample [default: print it].")] = None,
    labels: Annotated[
        Path | None, option("labels", "The labelled sample: score the log by it, and draw nothing.")
    ] = None,
    k: Annotated[int, option("k", "Depth of the measures, with --labels.", min=1, max=DEEPEST)] = 10,
    match: settings.MatchOfLog = "id",
    match_threshold: settings.MatchThresholdOfLog = None,
    match_chunk: settings.MatchChunkOfLog = None,
    precision: settings.Precision = "k",
    percentiles: Annotated[
        Literal["nearest-rank", "index"], option("percentiles", f"Of latencies, with --labels. {settings.RULES}")
    ] = "nearest-rank",
    skip_bad: Annotated[bool, option("skip-bad", "Pass over lines that are no recall, and count them.")] = False,
    format: Annotated[
        Literal["text", "markdown", "json"], option("format", "How to print scores: text, markdown or json.")
    ] = "text",
) -> int:
    """Draw a stratified, seeded sample of logged recalls to label; later score the log itself by these labels.

    A line of the log has query and ids (best first), and may have kind, ms (or timings), at, scores, texts, scope and
    tenant. Each distinct query is drawn at most once, in proportion to the recalls of each kind and at least one; the
    order of the lines decides nothing, and memory does not grow with the log. With --labels each kind weighs as many
    recalls as it has, so that the estimate is of the whole log. With --match the labels' `expected` is held against the
    texts of the log, and the first one that matches is the find.
    """
    from recallbench.corpora.recall_log import RecallLog, describe_skipped
    from recallbench.errors import UsageError

    if labels is not None and out is not None:
        raise UsageError("--out is for the sample", expected="--labels FILE, or --out FILE", found="both")
    of_scores = ("match", "match_threshold", "match_chunk", "precision", "percentiles")
    if labels is None and (given := settings.typed(context, *of_scores)):
        raise UsageError(f"{given} is for scoring", expected="--labels FILE", found="no labels")
    matching = settings.matching(context, match, match_threshold, match_chunk, of_log=True)
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
        done = _score(read, labels, measures, matching, percentiles, format)
    for problem in read.first_problems:
        print(f"recallbench: passed over: {visible(problem)}", file=sys.stderr)
    if read.bad:
        print(f"recallbench: {describe_skipped(read.bad.total())}", file=sys.stderr)
    return done


def _draw(log: RecallLog, n: int, seed: int, out: Path | None) -> int:
    from recallbench.studies.logs.sampling import draw

    found = draw(log, n, seed)
    text = "".join(f"{line}\n" for line in found.lines())
    if out is None:
        print(text, end="")
    else:
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    parts = ", ".join(
        f"{name or '(none)'} {found.taken[name]} of {count} {'recall' if count == 1 else 'recalls'}"
        for name, count in sorted(found.recalls.items())
    )
    print(
        visible(
            f"recallbench: {len(found.chosen)} {'query' if len(found.chosen) == 1 else 'queries'} by {log.by}: {parts}"
        ),
        file=sys.stderr,
    )
    return 0


def _score(
    log: RecallLog, labels: Path, measures: list[str], matching: Matching, percentiles: Rule, format: str
) -> int:
    from recallbench.reports import log_scores as told
    from recallbench.scoring.measures.registry import parse
    from recallbench.studies.logs.scoring import score

    found = score(log, labels, list(map(parse, measures)), matching, percentiles)
    if format == "json":
        print(plain(found.model_dump_json(indent=1)))
    elif format == "markdown":
        print(told.markdown(found), end="")
    else:
        below = [*told.matched(found), *told.intervals(found), *told.abstention(found), *found.notes]
        print_parts(told.table(found), "", *below)
    return 0
