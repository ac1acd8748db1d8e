"""The questions of a labelled set in a table, after a store was run over it, and beside an earlier result."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from recallbench.cases.case import NOTHING
from recallbench.cases.store_run import StoreRun
from recallbench.cli.measure.score_tables import RenderedComparison, TableOptions, show
from recallbench.compare.folders import compare_results
from recallbench.corpora.matching.method import Matching
from recallbench.errors import InputError, RecallBenchError, UsageError
from recallbench.escaping.terminal import visible
from recallbench.reports import comparison_text
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.results.known_texts import KnownTexts
from recallbench.results.result import Result, open_result, open_with_manifest
from recallbench.runs.options import Options
from recallbench.runs.run import Outcome

SHOWN = 5
"""Questions that changed most."""


def open_earlier(folder: Path, name: str, options: Options) -> Result:
    """Return the earlier result that a new one of the set `name` is compared with.

    Raises InputError for one of something else, and UsageError for one that was made with other options.
    """
    result = open_with_manifest(folder)
    metrics = result.metrics
    if metrics.corpus.name != name:
        raise InputError(
            f"{folder} is a result of something else",
            expected=name,
            found=metrics.corpus.name,
            remedy="compare results over the same files, matched alike",
        )
    was = metrics.retrieval
    settings = (
        ("depth", was.depth, options.depth),
        ("limit", was.limit, options.limit),
        ("scope", was.scope, "pooled" if options.pooled else "own"),
    )
    for what, before, now in settings:
        if before != now:
            raise UsageError(
                f"{folder} was made with another --{what}, so it can't be compared",
                expected=f"--{what} {before}" if before is not None else f"no --{what}",
                found=f"--{what} {now}" if now is not None else f"no --{what}",
                remedy="measure both alike",
            )
    return result


def refuse_without_field(field: str, folder: Path, split: str | None, matching: Matching) -> None:
    """Raise UsageError where no query of the set has the field to slice by."""
    from recallbench.corpora.labelled_sets.labelled_files import files_of, read_labels
    from recallbench.corpora.labelled_sets.labelled_records import PassedOver

    if field != "tenant":
        return
    files = files_of(folder, split, by_text=matching.by_text, ids_too=matching.method == "hybrid")
    labels = read_labels(files, f"labelled/{folder.name}", PassedOver(), expecting=matching.method == "hybrid")
    if not any(label.tenant for label in labels):
        raise UsageError(
            f"no query of {folder} has a {field}",
            expected="--by kind or scope, or queries that name their tenant",
            found=f"--by {field}",
            remedy=f"leave --by {field} out",
        )


def print_table(
    table: TableOptions, outcome: Outcome, matching: Matching, before: Result | None, ending: Conclusion
) -> RecallBenchError | None:
    """Print the table, with the figures of the result at any k; return the error where a part could not be printed.

    In any form but text, behind which more may follow, the `ending` stands below it.
    """
    metrics, calls = outcome.metrics, outcome.metrics.retrieval.calls
    store_run = StoreRun(outcome.retrieval, matching, k=calls[0], depth=calls[-1], definitions=table.definitions)
    more = {"result": str(outcome.folder), "corpus": metrics.corpus.name, "verdict": metrics.verdict.text}
    if table.format == "text":
        print()  # below the lines that every run ends with
    report, compared, lacking = store_run.report(table.k), None, None
    if table.by is not None:
        try:
            report.by(table.by)
        except UsageError as error:
            # The set has the field, but not in what --limit left of it.
            print(f"recallbench: {visible(error.problem)}: no means by {table.by}", file=sys.stderr)
            table = replace(table, by=None)
    try:
        if before is not None and not report.n:
            print(f"recallbench: nothing to compare with {visible(str(before.folder))}: {NOTHING}", file=sys.stderr)
        elif before is not None:
            compared = _compared(before, outcome)
    except RecallBenchError as error:
        lacking = error
    try:
        tradeoff = store_run.tradeoff(table.ks) if table.ks and report.n else None
        show(table, report, tradeoff, compared, more, None if table.format == "text" else ending)
    except RecallBenchError as error:
        lacking = lacking or error
    return lacking


def _compared(before: Result, outcome: Outcome) -> RenderedComparison:
    """Return the comparison that `recallbench compare` makes, whatever of the system under test was changed."""
    texts = KnownTexts({question.id: question.text for question in outcome.retrieval.questions})
    comparison = compare_results(
        before,
        open_result(outcome.folder),
        allowed=("embedder", "store"),
        show=SHOWN,
        texts=lambda chosen: texts,
    )
    return RenderedComparison(
        comparison.model_dump(mode="json"),
        comparison_text.parts(comparison),
        comparison_text.markdown(comparison).splitlines(),
    )
