"""`recallbench sweep`: many configurations, and which one to take."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, Finite, Whole, argument, command, flag, option
from recallbench.cli.engine_options import ENGINE
from recallbench.cli.printing import show
from recallbench.cli.settings_file import take_settings
from recallbench.cli.typed_command import typed_command
from recallbench.confidential import without_secrets
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Table

if TYPE_CHECKING:
    from recallbench.studies.sweep.rehearsal import Rehearsal

EXAMPLES = (
    "Examples: recallbench sweep tune.toml locomo; recallbench sweep tune.toml DIR --store pgvector --embedder minilm "
    "--gate 'recall_any@10 >= baseline' --gate 'p95 < 20ms'."
)


def _read_run(context: click.Context, _argument: click.Parameter, path: Path) -> Path:
    """Make what stands under [run] in the sweep's file the defaults of the command's options."""
    from recallbench.studies.sweep.file import run_table

    table = run_table(path)
    named = {"corpus": str(table.pop("corpus"))} if "corpus" in table else {}
    take_settings(context, path, table)
    context.default_map = {**named, **(context.default_map or {})}
    return path


@command(
    argument("file", "The sweep: a TOML file.", type=PATH, callback=_read_run, is_eager=True),
    options.CORPUS_OR_SET,
    option(
        "gate",
        "What a point must keep to be chosen, by the questions to choose by and the k hits that it hands on: "
        "'recall_any@10 >= baseline', 'p95 < 20ms', 'usd_per_1000 < .5'; repeat it for several.",
        multiple=True,
    ),
    option(
        "margin",
        "How much worse than the best the chosen point may be at most: the fastest one shown to be no worse is chosen.",
        type=Finite(0, 1, min_open=True),
        default=0.01,
    ),
    flag("race/--no-race", "Drop points on the way that are told from the best.", default=True),
    flag("sensitivity", "Measure also the points around the chosen one: what one step of each parameter moves."),
    option(
        "repeats",
        "Ask the chosen point and the baseline so many times again, from stores filled anew: how far figures move.",
        type=Whole(1),
    ),
    option(
        "seeds",
        "The same with so many seeds: each decides in which order haystacks are filled and questions asked.",
        type=Whole(1),
    ),
    option(
        "at-once",
        "Callers that ask a point at the same time, where its store takes several; p50 and p95 are taken alone.",
        type=Whole(1, 64),
        default=1,
    ),
    flag("dry-run", "Check the whole sweep, ask every point a few questions, and tell how long all of it would take."),
    option("measure", "What points are judged by, at the k of each where k is a parameter.", default="recall_any@10"),
    *options.OWN_DATA,
    *options.of_system(),
    *options.CORPUS,
    *options.SEEN,
    *ENGINE,
    *options.STUDY,
    *options.GENERAL,
    epilog=f"{EXAMPLES} {EPILOG}",
)
def sweep(
    file: Path,
    corpus: str | None,
    gate: tuple[str, ...],
    margin: float,
    race: bool,
    sensitivity: bool,
    repeats: int | None,
    seeds: int | None,
    at_once: int,
    dry_run: bool,
    measure: str,
    format: Format,
    quiet: bool,
    **others: Any,
) -> int:
    """Measure points of a grid, a list or a random draw over pipeline, store, encoder and k, and choose among them.

    A point is one combination of settings. Part of the questions (whole conversations, where there are such) is to
    choose by; the others, held out, tell what the choice is worth. Chosen is the fastest point that is shown to be no
    worse than the best by more than --margin. Beside it stand the points that can't be told from the best, those that
    no other beats in both figure and price (the Pareto front), and the one beyond which a dearer one gains little (the
    knee).

    FILE names the values of each parameter: "rrf.k" = [10, 60] under [parameters] is an option of a stage, "set.alpha"
    one of the store; embedder, store, pipeline and k go by themselves. [[point]] lists points one by one, method =
    "random" with draws = 20 draws them; [run] holds options of this command, and [baseline] the system as it is.
    Answers are kept by all that decides them: a killed sweep goes on, and two sweeps share points. Leaves a folder with
    report.md, report.html, sweep.json, points.csv, slices.csv, and each picture as SVG and CSV. Exits with 1 where a
    point failed (the others go on), none keeps the gates, or the chosen one is shown to miss one by the questions held
    out.
    """
    from recallbench.cli.bars import listener
    from recallbench.cli.measure.corpus_or_set import obtain_corpus
    from recallbench.compare.rules import parse_requirement
    from recallbench.reports.sweep.page import printed
    from recallbench.scoring.measures.registry import parse
    from recallbench.studies.sweep.choices import SweepChoices
    from recallbench.studies.sweep.file import SweepFile
    from recallbench.studies.sweep.study import dry_sweep
    from recallbench.studies.sweep.study import sweep as run_sweep

    progress = listener(quiet)
    stated = SweepFile.read(file)
    choices = SweepChoices(
        parse(measure),
        margin,
        tuple(map(parse_requirement, gate)),
        race,
        sensitivity=sensitivity,
        repeats=repeats or 0,
        seeds=seeds or 0,
        at_once=at_once,
    )
    of_corpus = ("corpus_shape", "corpus_file", "name")
    given = {f"--{name.replace('_', '-')}": str(others[name]) for name in of_corpus if others[name] is not None}
    named = (*([corpus] if corpus else []), *(word for words in given.items() for word in words))
    run_options = obtain_corpus(corpus, others, progress)
    if dry_run:
        rehearsal = dry_sweep(stated, file, run_options, choices, progress)
        show(_rehearsed(stated.name, rehearsal), format)
        return 1 if any(each.failure for each in rehearsal.points) else 0
    study = run_sweep(stated, file, run_options, choices, progress, date.today())
    command = typed_command()
    show(printed(study.document, study.folder, named, file, study.left_out, command), format)
    return 0 if study.holds else 1


def _rehearsed(name: str, rehearsal: Rehearsal) -> Printed:
    """Return a dry run as a table, what failed, and how long the whole would take."""
    from recallbench.reports.sweep.conclusion import left_out

    parameters = list(dict.fromkeys(name for each in rehearsal.points for name in each.point.parameters))
    rows = [
        [
            each.point.name,
            *(each.point.parameters.get(parameter, "–") for parameter in parameters),
            "kept" if each.kept else "failed" if each.seconds is None else f"{each.seconds:.1f}",
        ]
        for each in rehearsal.points
    ]
    kept = sum(each.kept for each in rehearsal.points)
    failed = [f"{each.point.name} failed: {each.failure}" for each in rehearsal.points if each.failure]
    minutes, seconds = divmod(round(rehearsal.seconds), 60)
    embedding = f", {rehearsal.embedding:.0f} s of it for vectors" if rehearsal.embedding >= 1 else ""
    further = []
    if rehearsal.around:
        further.append(f"up to {rehearsal.around} further points around the chosen one")
    if rehearsal.again:
        further.append(f"{rehearsal.again} further runs of the chosen point and the baseline")
    with_ = f", with {' and '.join(further)}" if further else ""
    lost = f"{len(failed)} of {len(rows)} points failed; " if failed else ""
    head = f"dry run of {name}: {len(rows)} points, {kept} of them kept"
    return Printed(
        f"Sweep {name}",
        [head, Table(["point", *parameters, "seconds"], rows, left=["point", *parameters]), *failed],
        {
            "name": name,
            "points": [
                {
                    "name": each.point.name,
                    "parameters": without_secrets(each.point.parameters),
                    "kept": each.kept,
                    "seconds": each.seconds,
                    "failure": each.failure,
                }
                for each in rehearsal.points
            ],
            "questions": rehearsal.questions,
            "seconds": rehearsal.seconds,
        },
        Conclusion(
            f"{lost}The sweep takes about {minutes}:{seconds:02d}{embedding}{with_}, less what a race saves",
            "; ".join([f"estimated from {rehearsal.questions} questions a point", *left_out(rehearsal.left_out)]),
            "mend the points that failed" if failed else typed_command().again("--dry-run"),
            tone="bad" if failed else "good",
        ),
    )
