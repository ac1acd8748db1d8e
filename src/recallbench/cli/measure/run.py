"""`recallbench run`: the main job."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from recallbench.cli import options
from recallbench.cli.command import argument, command, flag, option
from recallbench.reports.table import print_parts


@command(
    argument(
        "corpus",
        "locomo, longmemeval, or canary (the two small bundled corpora); none with --corpus-shape.",
        required=False,
    ),
    options.VERSION,
    *options.SYSTEM,
    *options.of_stores(),
    *options.CORPUS,
    options.LIMIT,
    options.DEPTH,
    options.SCOPE,
    option("reproduce", "Also measure a published baseline again, in its own, flawed way; a deviation."),
    *options.RESULT,
    flag("dry-run", "Go through a run on a miniature corpus, and list what the real one needs."),
    options.STRICT,
    options.CACHE_DIR,
    options.QUIET,
    options.CONFIG,
)
def run(corpus: str | None, require_verified: bool, dry_run: bool, strict: bool, quiet: bool, **of_run: Any) -> int:
    """Measure a store on a corpus and write a result folder that proves the number."""
    from recallbench.cli.bars import listener
    from recallbench.cli.measure.headline import gates_hold, headline, print_failures, reproduction
    from recallbench.corpora.registry import names
    from recallbench.errors import UsageError
    from recallbench.runs.dry import dry_run as rehearse
    from recallbench.runs.run import run as measure

    corpus = options.take_corpus(corpus, of_run)
    run_options = options.run_options(**of_run)
    if strict and not dry_run:
        raise UsageError(
            "--strict goes with --dry-run",
            expected="--dry-run --strict, which exits 3 when anything is not ready",
            found="--strict alone",
            remedy="add --dry-run, or use --require-verified to make the verdict the exit code",
        )
    corpora = names(corpus)
    if run_options.folder is not None and len(corpora) > 1:
        raise UsageError(
            f"--folder names one result, but {corpus} makes {len(corpora)}",
            expected="one corpus",
            found=", ".join(corpora),
            remedy=f"run {corpora[0]} and {corpora[1]} apart, or name a parent with --out",
        )
    if dry_run:
        ready = [rehearse(replace(run_options, corpus=name)) for name in corpora]
        return 0 if all(ready) or not strict else 3
    progress = listener(quiet)
    good = True
    for name in corpora:
        outcome = measure(replace(run_options, corpus=name), progress, date.today())
        print_parts(*headline(outcome.metrics, outcome.folder))
        if outcome.reproduced is not None:
            print_parts(*reproduction(outcome.reproduced, outcome.folder))
        whole = print_failures(outcome.retrieval)
        good = good and whole and (not require_verified or gates_hold(outcome.metrics))
    return 0 if good else 1
