"""`recallbench run`: the main job."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from recallbench.cli import options
from recallbench.cli.command import EPILOG, argument, command, flag, option
from recallbench.cli.engine_options import ENGINE
from recallbench.cli.printing import conclude, show
from recallbench.cli.typed_command import typed_command
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Part, print_parts

if TYPE_CHECKING:
    from recallbench.reports.conclusions.measured import Measured
    from recallbench.reports.printing.conclusion import Conclusion
    from recallbench.runs.options import Options


EXAMPLES = (
    "Examples: recallbench run canary-locomo --store bm25; recallbench run locomo --store python:my_memory:Memory "
    "--folder results/mine."
)


@command(
    argument(
        "corpus",
        "locomo, longmemeval, realtalk, realmem, …; canary (the two small bundled corpora), or all that are at hand; "
        "none with --corpus-shape.",
        required=False,
    ),
    options.VERSION,
    *options.of_system(options.STORES),
    *options.CORPUS,
    *options.SEEN,
    options.CONTROLS,
    option(
        "reproduce",
        "Also measure a published baseline (baseline-v0.2.1) again, in its own, flawed way; a deviation.",
        metavar="BASELINE",
    ),
    *ENGINE,
    *options.RESULT,
    options.REQUIRE_QUIET,
    options.LABELS,
    flag("dry-run", "Go through a run on a miniature corpus, and list what the real one needs."),
    options.STRICT,
    *options.GENERAL,
    epilog=f"{EXAMPLES} {EPILOG}",
)
def run(
    corpus: str | None,
    store: tuple[str, ...],
    require_verified: bool,
    require_quiet: bool,
    dry_run: bool,
    strict: bool,
    quiet: bool,
    format: Format,
    labels: bool,
    **of_run: Any,
) -> int:
    """Measure a store on a corpus and write a result folder that proves the number.

    Several stores, or the corpora of a group, are measured one after the other; one that fails does not stop the rest.
    """
    from recallbench.cli.bars import listener
    from recallbench.cli.measure.corpora_table import corpora_table
    from recallbench.cli.measure.headline import code_of, headline, measured, print_failures, reproduction
    from recallbench.corpora.labelled_sets.set_name import plain_names
    from recallbench.errors import RecallBenchError, UsageError
    from recallbench.machine_load import MachineLoad, refuse_unquiet
    from recallbench.reports.conclusions.measured import conclude_measured, conclude_several
    from recallbench.reports.conclusions.rows import headline_sheet, result_document
    from recallbench.runs.dry import conclude_dry_runs, readiness_sheet
    from recallbench.runs.dry import dry_run as rehearse
    from recallbench.runs.run import run as measure

    today = date.today()
    labels = labels or require_verified or of_run["reproduce"] is not None
    corpus = options.take_corpus(corpus, of_run)
    run_options = options.run_options(**of_run)
    if strict and not dry_run:
        raise UsageError(
            "--strict goes with --dry-run",
            expected="--dry-run --strict, which exits 3 when anything is not ready",
            found="--strict alone",
            remedy="add --dry-run, or use --require-verified to make the verdict the exit code",
        )
    runs = list(_runs(run_options, corpus, store))
    if run_options.folder is not None and len(runs) > 1:
        raise UsageError(
            "--folder names one result",
            expected="one corpus and one store",
            found=f"{len(runs)} runs",
            remedy="name a parent with --out",
        )
    if dry_run:
        dry_runs = [rehearse(each) for each in runs]
        shown = [part for each in dry_runs for part in each.parts(labels=labels)]
        command = typed_command().again("--dry-run", "--strict")
        rehearsed = {"dry_runs": [each.document() for each in dry_runs]}
        sheet = readiness_sheet({each.options.corpus: each.told for each in dry_runs})
        ending = conclude_dry_runs(dry_runs, command)
        show(Printed("A dry run", shown, rehearsed, ending, own_sheet=sheet), format)
        return 0 if all(each.ready for each in dry_runs) or not strict else 3
    if require_quiet:
        refuse_unquiet(MachineLoad.while_idle())
    progress = listener(quiet)
    codes: list[int] = []
    results: list[Measured] = []
    parts: list[Part] = []
    failed: dict[str, str] = {}
    for each in runs:
        try:
            outcome = measure(each, progress, today)
        except RecallBenchError as error:
            if len(runs) == 1:
                raise
            print(f"recallbench: {each.store or each.corpus}: {error}", file=sys.stderr)
            failed[plain_names(f"{each.store} on {each.corpus}" if each.store else each.corpus)] = str(error)
            codes.append(error.exit_code)
            continue
        told = headline(outcome.metrics, outcome.folder, today, labels=labels)
        if outcome.reproduced is not None:
            told += reproduction(outcome.reproduced, outcome.folder)
        parts += [*([""] if parts else []), *told]
        if format == "text":
            print_parts(*told)  # the next one may take an hour
        print_failures(outcome.retrieval)
        codes.append(code_of(outcome, require_verified=require_verified, require_quiet=require_quiet))
        results.append(measured(outcome, today, require_quiet=require_quiet))
    if len({each.metrics.corpus.name for each in results}) > 1:
        over: list[Part] = ["", corpora_table([each.metrics for each in results])]
        parts += over
        if format == "text":
            print_parts(*over)
    conclusion = (
        conclude_several(results, list(failed), _ranked(results)) if len(runs) > 1 else conclude_measured(results[0])
    )
    if format == "text":
        conclude(conclusion)
    else:
        document = {"results": [result_document(each) for each in results], "failed": failed}
        printed = Printed("Measured", parts, document, conclusion, own_sheet=headline_sheet(results))
        show(printed, format)
    return max(codes)


def _ranked(results: Sequence[Measured]) -> Conclusion | None:
    """Return who of several stores on one corpus is first; None where there is no such question."""
    if len(results) < 2 or len({each.metrics.corpus.name for each in results}) > 1:
        return None
    from recallbench.compare.conclusions.stores import conclude_stores
    from recallbench.results.result import Result

    return conclude_stores([Result(each.folder, each.metrics) for each in results])


def _runs(run_options: Options, corpus: str, stores: Sequence[str]) -> Iterator[Options]:
    """Yield the options of each run; of several stores, those that need no vectors have no encoder."""
    from recallbench.corpora.registry import ALL, names
    from recallbench.stores.registry import asks_vectors, check_options

    for named in stores if len(stores) > 1 else ():
        check_options(named, run_options.store_options, several=True)  # before one of them is measured
    corpora = names(corpus)
    for name in corpora_at_hand(run_options.environ, corpora) if corpus == ALL else corpora:
        label = "_".join(word for word in (run_options.label, name) if word)
        for store in stores or (None,):
            options = replace(run_options, corpus=name, store=store)
            if options.out is not None and len(corpora) > 1:
                options = replace(options, label=label)  # else only a number would tell their folders apart
            if (
                len(stores) > 1
                and store
                and not asks_vectors(store, environ=options.environ, options=options.store_options)
            ):
                options = options.without_encoder()
            yield options


def corpora_at_hand(environ: Mapping[str, str], corpora: Sequence[str]) -> list[str]:
    """Return those of the corpora whose files are on this machine; raises Blocked where none is."""
    from recallbench.corpora.registry import why_not_at_hand
    from recallbench.errors import Blocked
    from recallbench.protocol.frozen import load

    missing = {name: why_not_at_hand(name, load(), environ) for name in corpora}
    for name, why in missing.items():
        if why:
            print(f"recallbench: {name} is left out: {why}", file=sys.stderr)
    there = [name for name, why in missing.items() if not why]
    if not there:
        raise Blocked("no corpus is at hand", expected="the files of one", remedy="recallbench fetch locomo")
    return there
