"""`recallbench compare`: two results, or two TREC runs, question by question."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, Whole, argument, command, flag, option, typed
from recallbench.escaping.document import plain
from recallbench.reports.table import print_parts

if TYPE_CHECKING:
    from recallbench.compare.rules import Rule
    from recallbench.reports.comparison import Comparison
    from recallbench.results.trec import Ties

EXAMPLES = (
    "Examples: recallbench compare OLD NEW --allow store --fail-if 'recall_any@10 drops 0.005' --strict; "
    "recallbench compare a.trec b.trec --qrels qrels.trec --measures ndcg@10,mrr@10."
)


@command(
    argument("first", "The result folder (or TREC run) to start from.", metavar="A", type=PATH),
    argument("second", "The result to compare with it.", metavar="B", type=PATH),
    option(
        "allow",
        "What may differ: embedder, store, pipeline; several as embedder,store (the normal A/B).",
        multiple=True,
    ),
    option(
        "pipeline",
        "A pipeline's file: B must have been made by it, and A may have been made otherwise (--allow pipeline).",
        type=PATH,
    ),
    option(
        "measures",
        "Measures, separated by commas [default: the two primary and six secondary ones].",
        multiple=True,
    ),
    *options.FAILURES,
    option("show", "How many of the questions that changed most are shown.", type=Whole(0), default=20),
    option("corpus-file", "The corpus file that was measured, to show texts.", type=PATH),
    option("qrels", "TREC judgements: A and B are TREC runs.", type=PATH),
    option("clusters", "For TREC runs: a file with a line `question cluster` for each question.", type=PATH),
    option("cluster-prefix", "For TREC runs: a question's cluster is its id up to the last TEXT in it."),
    options.TIES,
    options.JSON,
    flag("markdown", "Print Markdown.", "as_markdown"),
    options.CONFIG,
    epilog=f"{EXAMPLES} {EPILOG}",
)
def compare(
    first: Path,
    second: Path,
    allow: tuple[str, ...],
    pipeline: Path | None,
    measures: tuple[str, ...],
    fail_if: tuple[str, ...],
    strict: bool,
    show: int,
    corpus_file: Path | None,
    qrels: Path | None,
    clusters: Path | None,
    cluster_prefix: str | None,
    ties: Ties,
    as_json: bool,
    as_markdown: bool,
) -> int:
    """Compare two results question by question: B minus A, with interval, exact test and what changed most.

    Both must have the same protocol, clarifications, dataset, depth, scope and denominator. Compare a release with the
    next by `--allow store`. A `drops` fails (exit 1) when the 95% interval of the drop lies at or above the number, and
    passes when it lies below; otherwise it is inconclusive. A `below` goes by B's value alone. Without --fail-if, exit
    1 says that a primary measure fell, at a corrected p of .05 or less.
    """
    from recallbench.compare.rules import exit_code, parse_failures
    from recallbench.errors import UsageError
    from recallbench.reports import comparison_text

    if as_json and as_markdown:
        raise UsageError("--json and --markdown are two forms of one output", expected="one of them")
    conditions = parse_failures(fail_if, strict)
    measure_names = _split_at_commas(measures)
    if qrels is not None:
        if pipeline is not None:
            raise UsageError("--pipeline is for result folders", remedy="TREC runs do not say how they were made")
        named = (clusters, cluster_prefix)
        comparison = _runs(
            first, second, qrels, measure_names, conditions, _split_at_commas(allow), named, corpus_file, show, ties
        )
    else:
        if clusters is not None or cluster_prefix is not None:
            raise UsageError("--clusters and --cluster-prefix are for TREC runs", remedy="folders state their clusters")
        if typed("ties"):
            raise UsageError("--ties is for TREC runs", remedy="folders keep their rankings in order")
        allowed = _split_at_commas(allow)
        comparison = _folders(first, second, measure_names, conditions, allowed, corpus_file, show, pipeline)
    if as_json:
        print(plain(comparison.model_dump_json(indent=1)))
    elif as_markdown:
        print(comparison_text.markdown(comparison), end="")
    else:
        print_parts(*comparison_text.parts(comparison))
    if not comparison.conditions and all(measure.role == "secondary" for measure in comparison.measures):
        undecided = "none of these measures is primary: only --fail-if makes their fall exit 1"
        print(f"note: {undecided}", file=sys.stderr)
    return exit_code(comparison.conditions, comparison.regressions, strict=strict)


def _folders(
    first: Path,
    second: Path,
    measure_names: Sequence[str],
    conditions: Sequence[Rule],
    allowed: Sequence[str],
    corpus_file: Path | None,
    show: int,
    pipeline: Path | None,
) -> Comparison:
    from recallbench.compare.folders import compare_results, corpus_texts
    from recallbench.compare.pipelines import ALLOWED, refuse_other_pipeline
    from recallbench.results.folder import not_a_result
    from recallbench.results.result import open_with_manifest
    from recallbench.retrieval.pipeline.pipeline import Pipeline
    from recallbench.scoring.measures.registry import parse

    for path in (first, second):
        if path.is_file():
            raise not_a_result(path, "a file", f"for TREC runs: recallbench compare {first} {second} --qrels FILE")
    first_result, second_result = open_with_manifest(first), open_with_manifest(second)
    texts = None if corpus_file is None else corpus_texts(first_result, corpus_file, dict(os.environ))
    measures = [parse(text) for text in measure_names]
    if pipeline is not None:
        refuse_other_pipeline(second_result.metrics, str(second), Pipeline.read(pipeline))
        allowed = [*allowed, ALLOWED]
    return compare_results(first_result, second_result, measures, conditions, allowed=allowed, show=show, texts=texts)


def _runs(
    first: Path,
    second: Path,
    qrels: Path,
    measure_names: Sequence[str],
    conditions: Sequence[Rule],
    allowed: Sequence[str],
    named: tuple[Path | None, str | None],
    corpus_file: Path | None,
    show: int,
    ties: Ties,
) -> Comparison:
    from recallbench.compare.comparison import compare as compared
    from recallbench.compare.side import MEASURES
    from recallbench.compare.trec import DEPTH, trec_sides
    from recallbench.errors import UsageError
    from recallbench.scoring.measures.registry import parse

    if corpus_file is not None:
        raise UsageError("--corpus-file is for result folders", remedy="leave it out")
    clusters, prefix = named
    if clusters is not None and prefix is not None:
        raise UsageError("--clusters and --cluster-prefix say the same in two ways", expected="one of them")
    if unknown := sorted(set(allowed) - {DEPTH}):
        raise UsageError(
            f"--allow {unknown[0]} is not possible for TREC runs", expected=f"--allow {DEPTH}, or nothing",
            remedy="a run file states neither embedder nor store",
        )  # fmt: skip
    measures = [parse(text) for text in measure_names] or list(MEASURES)
    every = [*measures, *(condition.measure for condition in conditions)]
    before, after = trec_sides((first, second), qrels, every, clusters, prefix, DEPTH in allowed, ties)
    return compared(before, after, measures, conditions, basis=[f"judged by {qrels}", f"ties: {ties}"], show=show)


def _split_at_commas(texts: Sequence[str]) -> list[str]:
    return [word.strip() for text in texts for word in text.split(",") if word.strip()]
