"""`recallbench compare`: two results, or two TREC runs, question by question."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recallbench.cli import options
from recallbench.cli.command import ALIAS, EPILOG, PATH, Whole, argument, command, flag, option, typed
from recallbench.cli.printing import show as print_all
from recallbench.errors import UsageError
from recallbench.escaping import shell
from recallbench.reports.printing.printed import Format, Printed

if TYPE_CHECKING:
    from recallbench.compare.rules import Rule
    from recallbench.reports.comparison import Comparison
    from recallbench.results.trec import Ties
    from recallbench.scoring.measures.measure import Measure

EXAMPLES = (
    "Examples: recallbench compare OLD NEW; recallbench compare OLD NEW --fail-if 'recall_any@10 drops 0.005' "
    "--strict; recallbench compare a.trec b.trec --qrels qrels.trec --measures ndcg@10,mrr@10."
)


@command(
    argument("first", "The result folder (or TREC run) to start from.", metavar="A", type=PATH),
    argument("second", "The result to compare with it.", metavar="B", type=PATH),
    option("pipeline", "A pipeline's file: B must have been made by it.", type=PATH),
    option(
        "measures",
        "Measures, separated by commas [default: recall_any@10 and mrr@50, which decide, and six others].",
        multiple=True,
    ),
    *options.FAILURES,
    flag(
        "fail-on-regression",
        "Exit 1 when recall_any@10 or mrr@50 is proven to have fallen: at a p of .05 or less, corrected for both.",
    ),
    option("show", "How many of the questions that changed most are shown, with texts.", type=Whole(0), default=3),
    option(
        "corpus-file",
        "The corpus file that was measured, to show texts [default: found by variable or data folder].",
        type=PATH,
    ),
    option("qrels", "TREC judgements: A and B are TREC runs.", type=PATH),
    option(
        "clusters",
        "For TREC runs: a file with a line `question cluster` for each question; those of a cluster depend on each "
        "other, as those of one conversation do.",
        type=PATH,
    ),
    option("cluster-prefix", "For TREC runs: a question's cluster is its id up to the last TEXT in it."),
    options.TIES,
    option(
        "allow",
        "For TREC runs: `depth` says that both were asked equally deep. Of folders nothing needs to be allowed.",
        multiple=True,
    ),
    *options.FORMAT,
    flag("markdown", "The same as --format markdown.", ALIAS + "markdown"),
    options.CONFIG,
    epilog=f"{EXAMPLES} {EPILOG}",
)
def compare(
    first: Path,
    second: Path,
    pipeline: Path | None,
    measures: tuple[str, ...],
    fail_if: tuple[str, ...],
    strict: bool,
    fail_on_regression: bool,
    show: int,
    corpus_file: Path | None,
    qrels: Path | None,
    clusters: Path | None,
    cluster_prefix: str | None,
    ties: Ties,
    allow: tuple[str, ...],
    format: Format,
) -> int:
    """Compare two results question by question: B minus A, with interval, exact test and what changed most.

    Whatever of the two systems differs is said. Refused is only what leaves nothing to compare: another protocol,
    dataset, matching, time, scope or denominator. Exit 1 says that a rule named here fails. A `drops` fails when the
    95% interval of the drop lies at or above the number, and passes when it lies below; otherwise it is inconclusive.
    A `below` goes by B's value alone.
    """
    from recallbench.compare.comparison import compare as compared
    from recallbench.compare.conclusions.comparison import conclude_comparison
    from recallbench.compare.rules import exit_code, parse_failures
    from recallbench.compare.side import MEASURES
    from recallbench.compare.trec import DEPTH, trec_sides
    from recallbench.reports import comparison_text
    from recallbench.scoring.measures.registry import parse

    conditions = parse_failures(fail_if, strict)
    chosen = [parse(text) for text in options.words_of(*measures)]
    allowed = options.words_of(*allow)
    if qrels is not None:
        _refuse_options_of_folders(pipeline, corpus_file, allowed)
        if clusters is not None and cluster_prefix is not None:
            raise UsageError("--clusters and --cluster-prefix say the same in two ways", expected="one of them")
        chosen = chosen or list(MEASURES)
        every = [*chosen, *(condition.measure for condition in conditions)]
        before, after = trec_sides((first, second), qrels, every, clusters, cluster_prefix, DEPTH in allowed, ties)
        basis = [f"judged by {qrels}", f"ties: {ties}"]
        comparison = compared(before, after, chosen, conditions, basis=basis, show=show)
    else:
        if clusters is not None or cluster_prefix is not None:
            raise UsageError("--clusters and --cluster-prefix are for TREC runs", remedy="folders state their clusters")
        if typed("ties"):
            raise UsageError("--ties is for TREC runs", remedy="folders keep their rankings in order")
        _refuse_unknown(allowed)
        comparison = _folders(first, second, chosen, conditions, corpus_file, show, pipeline)
    if fail_on_regression and all(measure.role == "secondary" for measure in comparison.measures):
        raise UsageError(
            "--fail-on-regression looks at the primary measures, and none is compared",
            expected="recall_any@10 or mrr@50 among --measures",
            found=", ".join(measure.measure for measure in comparison.measures),
            remedy="name one of them, or a rule of your own: --fail-if 'ndcg@10 drops 0.01'",
        )
    judged = {"--qrels": qrels, "--clusters": clusters, "--cluster-prefix": cluster_prefix}
    given = [word for name, value in judged.items() if value is not None for word in (name, value)]
    again = shell.command("compare", first, second, *given)
    conclusion = conclude_comparison(comparison, again, strict=strict, fail_on_regression=fail_on_regression)
    shown = Printed(
        f"{first} against {second}",
        comparison_text.parts(comparison, file_option="--corpus-file"),
        comparison.model_dump(mode="json"),
        conclusion,
        own_markdown=comparison_text.markdown(comparison),
        own_sheet=comparison_text.sheet(comparison),
    )
    print_all(shown, format)
    fell = fail_on_regression and bool(comparison.regressions)
    return 1 if fell else exit_code(comparison.conditions, (), strict=strict)


def _refuse_unknown(allowed: Sequence[str]) -> None:
    """Raise UsageError for a word of --allow that never was one; the others do nothing any more."""
    from recallbench.compare.frame import ALLOWABLE
    from recallbench.compare.trec import DEPTH

    if unknown := sorted(set(allowed) - {*ALLOWABLE, DEPTH}):
        raise UsageError(
            f"--allow {unknown[0]} is not possible",
            expected="nothing: whatever may differ is said",
            found=unknown[0],
            remedy="leave --allow out",
        )


def _refuse_options_of_folders(pipeline: Path | None, corpus_file: Path | None, allowed: Sequence[str]) -> None:
    """Raise UsageError for an option that says nothing of TREC runs."""
    from recallbench.compare.trec import DEPTH

    if pipeline is not None:
        raise UsageError("--pipeline is for result folders", remedy="TREC runs do not say how they were made")
    if corpus_file is not None:
        raise UsageError("--corpus-file is for result folders", remedy="leave it out")
    if unknown := sorted(set(allowed) - {DEPTH}):
        raise UsageError(
            f"--allow {unknown[0]} is not possible for TREC runs", expected=f"--allow {DEPTH}, or nothing",
            remedy="a run file states neither embedder nor store",
        )  # fmt: skip


def _folders(
    first: Path,
    second: Path,
    measures: Sequence[Measure],
    conditions: Sequence[Rule],
    corpus_file: Path | None,
    show: int,
    pipeline: Path | None,
) -> Comparison:
    from recallbench.compare.folders import compare_results, corpus_texts, texts_at_hand
    from recallbench.compare.pipelines import refuse_other_pipeline
    from recallbench.results.folder import not_a_result
    from recallbench.results.result import open_with_manifest
    from recallbench.retrieval.pipeline.pipeline import Pipeline

    for path in (first, second):
        if path.is_file():
            raise not_a_result(path, "a file", f"for TREC runs: recallbench compare {first} {second} --qrels FILE")
    first_result, second_result = open_with_manifest(first), open_with_manifest(second)
    environ = dict(os.environ)
    texts = corpus_texts(first_result, corpus_file, environ) if corpus_file else texts_at_hand(first_result, environ)
    if pipeline is not None:
        refuse_other_pipeline(second_result.metrics, str(second), Pipeline.read(pipeline))
    return compare_results(first_result, second_result, measures, conditions, allowed=None, show=show, texts=texts)
