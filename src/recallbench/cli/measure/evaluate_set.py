"""`recallbench evaluate DIR`: a store over a set of one's own, with all that a result over a registered corpus has."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

from recallbench.cli.measure.labelled_target import Target
from recallbench.cli.measure.score_tables import TableOptions
from recallbench.corpora.labelled_sets.age import parse_age
from recallbench.errors import UsageError
from recallbench.escaping.shell import command
from recallbench.escaping.terminal import shortened, visible
from recallbench.progress import Progress
from recallbench.reports.cells import figure, share
from recallbench.reports.set_report import counts_as_published, mean_over_subsets, passed_over, unresolved
from recallbench.reports.table import Part, Table, plain_lines, print_parts
from recallbench.results.metrics import Metrics
from recallbench.results.retrievals import GRADED
from recallbench.runs.options import Options

NAMED = 5


def evaluate_set(
    target: Target,
    options: Options,
    progress: Progress,
    today: date,
    *,
    table: TableOptions | None,
    compare: Path | None,
    stale_after: str | None,
    require_verified: bool,
    require_quiet: bool = False,
    labels: bool = False,
) -> int:
    """Run the store over the set, print its figures and how it ends, and warn of labels older than `stale_after`.

    With `table` the table of its questions is printed too, in any form but text alone, and behind it the change since
    the earlier result `compare`. `labels` tells the protocol's verdict, as a required one does. Return 1 where a
    question failed, or where the verdict falls short of a required one.
    """
    from recallbench.cli.measure.headline import code_of, headline, measured, print_failures
    from recallbench.cli.measure.set_tables import open_earlier, print_table, refuse_without_field
    from recallbench.cli.printing import conclude
    from recallbench.machine_load import MachineLoad, refuse_unquiet
    from recallbench.reports.conclusions.measured import conclude_measured
    from recallbench.results.sets.asked_depth import asked_depth
    from recallbench.retrieval.record import question_labels
    from recallbench.runs.run import run

    _refuse_result(Path(target.name))
    if table is not None:
        from recallbench.cases.store_run import FIELDS, refuse_beyond

        refuse_beyond([table.k, *table.ks], options.depth)
        if table.by not in (None, *FIELDS):
            raise UsageError(
                f"queries of a set can't be sliced by {table.by}",
                expected=" or ".join(FIELDS),
                found=table.by or "",
                remedy="leave --by out, and out of RECALLBENCH_BY and the settings file",
            )
    name, folder = target.obtain(options, progress)
    age = None if stale_after is None else parse_age(stale_after)
    options = replace(options, corpus=name, corpus_file=folder)
    before = None if compare is None else open_earlier(compare, name, options)
    if table is not None and table.by is not None:
        refuse_without_field(table.by, folder, target.split, target.matching)
    if require_quiet:
        refuse_unquiet(MachineLoad.while_idle())
    outcome = run(options, progress, today)
    metrics = outcome.metrics
    named = {id: shortened(label) for id, label in question_labels(outcome.retrieval.questions).items()}
    of_labels = metrics.labels
    passed = [] if of_labels is None else [*passed_over(of_labels), *unresolved(of_labels)]
    beside = [*_hub(metrics, folder), *passed, *_matched(metrics, named), *_worst(metrics, named)]
    deciding = 10 if table is None else table.k
    asked = None if deciding == 10 else asked_depth(outcome.retrieval, deciding)
    told = headline(metrics, outcome.folder, today, labels=labels or require_verified, asked=asked)
    as_text = table is None or table.format == "text"
    if as_text:
        print_parts(*told, *beside)
    else:
        # What is for machines, or for a page, stands alone on stdout.
        progress.note("\n".join(plain_lines(*told, *beside)))
    stale = [] if age is None else _stale(metrics, today - age, stale_after or "")
    old = stale[0] if stale else ""
    ending = conclude_measured(measured(outcome, today, require_quiet=require_quiet, stale=old, asked=asked))
    if before is not None:
        ending = replace(ending, next=command("compare", before.folder, outcome.folder))
    lacking = None if table is None else print_table(table, outcome, target.matching, before, ending)
    for line in stale:
        print(visible(f"warning: {line}"), file=sys.stderr)
    print_failures(outcome.retrieval)
    if as_text:
        conclude(ending)
    if lacking is not None:
        raise lacking
    return code_of(outcome, require_verified=require_verified, require_quiet=require_quiet)


def _refuse_result(folder: Path) -> None:
    gold = folder / (GRADED if (folder / GRADED).is_file() else "qrels.trec")
    if gold.is_file() and (folder / "run.trec").is_file():
        raise UsageError(
            f"{folder} is a result, no set of your own",
            expected="the folder of the set that it is a result of",
            found=f"run.trec and {gold.name}",
            remedy=f"score its rankings: {command('score', folder / 'run.trec', '--gold', gold)}",
        )


def _hub(metrics: Metrics, folder: Path) -> list[str]:
    hub = metrics.hub
    if hub is None:
        return []
    task = f", task {hub.task}" if hub.task else ""
    loose = [file.name for file in hub.files if not file.pinned]
    pins = f"{', '.join(loose)}: sha256 recorded at first use, not pinned" if loose else "every file pinned by sha256"
    if hub.task and loose:
        pins = f"sha256 of {len(loose)} files recorded at first use, not pinned"
    lines = [f"set: {hub.repo} at {hub.revision}{task}, in {folder.absolute()}; {pins}"]
    told = [line for line in (counts_as_published(hub), mean_over_subsets(metrics)) if line]
    return [*lines, *(line[0].lower() + line[1:] for line in told)]


def _matched(metrics: Metrics, labels: Mapping[str, str]) -> list[Part]:
    matching = metrics.matching
    if matching is None:
        return []
    lines: list[Part] = [
        f"matched by {matching.method}: {matching.exact} gold exact, {matching.fuzzy} fuzzy;"
        f" {matching.questions - matching.without} of {matching.questions} queries have some"
    ]
    if matching.shares is not None:
        steps = [(step.step, str(step.gold), str(step.found_10), share(step.share)) for step in matching.shares]
        head = ("gold by", "segments", "found first in the first 10", "share of questions")
        lines.append(Table(head, steps, left=["gold by"]))
    if matching.by_id is not None and matching.by_text is not None:
        lines.append(
            ", ".join(
                f"{part.questions} by {way}: recall_any@10 {figure(part.recall_any_10)}"
                for way, part in (("id", matching.by_id), ("text", matching.by_text))
            )
        )
    if matching.without:
        whole = next(denominator for denominator in metrics.denominators if denominator.headline)
        named = ", ".join(labels.get(id, id) for id in matching.unmatched[:NAMED])
        more = f" and {matching.without - NAMED} more" if matching.without > NAMED else ""
        lines.append(
            f"nothing matches {named}{more}: 0 in the denominator {whole.name},"
            f" recall_any@10 {figure(whole.values['recall_any@10'])} of {whole.count}"
        )
    return lines


def _worst(metrics: Metrics, labels: Mapping[str, str]) -> list[str]:
    worst = metrics.worst or []
    if not worst:
        return ["no question drags the mean down"]
    named = [
        f"{labels[row.question_id]} (first gold {'not found' if row.first_rank is None else f'at {row.first_rank}'},"
        f" {row.found} of {row.gold} in the first 10)"
        for row in worst[:NAMED]
    ]
    more = f"; the report names {len(worst)}" if len(worst) > NAMED else ""
    return [f"these drag the mean down: {', '.join(named)}{more}"]


def _stale(metrics: Metrics, limit: date, age: str) -> list[str]:
    labels = metrics.labels
    if labels is None:
        return []
    lines = []
    if labels.oldest is not None and labels.oldest < limit.isoformat():
        lines.append(f"labels are older than {age}: the oldest is of {labels.oldest}; look at them again")
    if labels.undated:
        lines.append(f"{labels.undated} queries say nothing of when they were labelled (labelled_at)")
    return lines
