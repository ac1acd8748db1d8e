"""`recallbench table`: results, TREC runs and published folders side by side."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, argument, command, option
from recallbench.cli.picture_file import check_picture
from recallbench.cli.printing import show
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Part
from recallbench.whole_file import write_output

if TYPE_CHECKING:
    from recallbench.compare.entrant import Entrant
    from recallbench.reports.standings import Standings
    from recallbench.results.rankings import Rankings
    from recallbench.results.trec import Ties
    from recallbench.scoring.measures.measure import Measure

EXAMPLES = (
    "Examples: recallbench table results/* --plot systems.svg; recallbench table ours/ theirs.trec published/ "
    "--format markdown; recallbench table a.trec b.trec --qrels qrels.trec --measures ndcg@10."
)


@command(
    argument(
        "results",
        "Result folders, TREC runs, or folders that another tool published.",
        nargs=-1,
        required=True,
        metavar="RESULT...",
        type=PATH,
    ),
    option("measures", "Measures, separated by commas; the first one decides.", default="recall_any@10,mrr@50"),
    *options.FORMAT,
    option("plot", "Draw the first measure into this SVG file, with intervals, BM25, chance and ceiling.", type=PATH),
    option("qrels", "TREC judgements for the runs [default: the gold of the first result folder].", type=PATH),
    option(
        "corpus-file",
        "The corpus of a published folder; repeat it for several [default: found by variable or data folder].",
        multiple=True,
        type=PATH,
    ),
    options.TIES,
    options.CONFIG,
    epilog=f"{EXAMPLES} {EPILOG}",
)
def table(
    results: tuple[Path, ...],
    measures: str,
    format: Format,
    plot: Path | None,
    qrels: Path | None,
    corpus_file: tuple[Path, ...],
    ties: Ties,
) -> int:
    """Show results side by side, best first: who finds more, and who can't be told apart.

    Systems that share a letter can't be told apart by a paired test on the first measure, corrected for the number of
    pairs; those that have the same value for every question count as one. Settings that differ are columns. Only
    results of the same protocol, dataset, depth, scope and questions share a table: the largest such group. The others
    stand below it, each with the reason. Results of one system over sessions and over turns of the same questions stand
    side by side beneath.
    """
    from recallbench.compare.standings import standings
    from recallbench.reports.standings import picture

    check_picture(plot)
    chosen = options.measures_of(measures)
    entrants, unplaced = _entrants(dict.fromkeys(results), chosen, qrels, corpus_file, ties)
    ranked = standings(entrants, chosen, unplaced)
    _print(ranked, format)
    if plot is not None:
        write_output(plot, picture(ranked))
    return 0


def _entrants(
    paths: Sequence[Path] | dict[Path, None],
    measures: Sequence[Measure],
    qrels: Path | None,
    corpus_files: Sequence[Path],
    ties: Ties,
) -> tuple[list[Entrant], list[tuple[str, str]]]:
    """Return what can be ranked, in the order given, and what can't with the reason."""
    from recallbench.compare.entrant import Entrant
    from recallbench.errors import InputError, UsageError
    from recallbench.foreign.entrants import placed_entrant, run_hits
    from recallbench.foreign.layouts import own
    from recallbench.results.folder import BLOCKED
    from recallbench.results.result import open_with_manifest

    entrants: dict[Path, Entrant] = {}
    unplaced: list[tuple[str, str]] = []
    runs = [path for path in paths if path.is_file()]
    for path in paths:
        if path not in runs and (own.recognises(path) or not path.is_dir()):
            try:
                result = open_with_manifest(path)
                entrants[path] = Entrant(str(path), result.rankings, result)
            except InputError as error:
                if not path.is_dir():
                    raise  # mistyped, and no result at all
                unplaced.append((str(path), error.brief))
    base = next((entrant.rankings for entrant in entrants.values()), None)
    if runs and qrels is not None:
        from recallbench.compare.trec import trec_sides

        for path, side in zip(runs, trec_sides(runs, qrels, measures, None, None, False, ties), strict=True):
            entrants[path] = Entrant(str(path), side.rankings, note="; ".join(side.notes))
    elif runs and base is None:
        raise UsageError(
            "TREC runs alone have no judgements", expected="--qrels FILE, or a result folder beside them", found="none"
        )
    damaged = {name for name, _ in unplaced}
    for path in paths:
        if path in entrants or str(path) in damaged:
            continue
        if (path / BLOCKED).is_file():
            unplaced.append((str(path), f"{BLOCKED}: the run could not be made"))
            continue
        try:
            if path in runs:
                assert base is not None
                entrants[path] = placed_entrant(str(path), run_hits(path, ties), base)
            else:
                entrants[path] = _published(path, base, measures, corpus_files)
        except InputError as error:
            if len(paths) == 1:
                raise
            form = error.problem.removeprefix(f"{path}, ")
            problem = f"neither a result folder nor a TREC run: {form}" if form != error.problem else form
            unplaced.append((str(path), f"{problem}: {error.found}"))
    if not entrants:
        raise InputError(
            "there is nothing to show", expected="one result", found="; ".join(f"{n}: {why}" for n, why in unplaced)
        )
    return [entrants[path] for path in paths if path in entrants], unplaced


def _published(path: Path, base: Rankings | None, measures: Sequence[Measure], corpus_files: Sequence[Path]) -> Entrant:
    from recallbench.foreign.entrants import corpus_gold, placed_entrant
    from recallbench.foreign.placing import placed_run

    environ = dict(os.environ)
    corpus_name, run = placed_run(path, corpus_files, environ)
    if base is None:
        base = corpus_gold(corpus_name, max(measure.k for measure in measures), corpus_files, environ)
    return placed_entrant(str(path), run, base)


def _print(ranked: Standings, format: Format) -> None:
    from recallbench.reports import standings as report
    from recallbench.reports.units.unit_table import unit_sentences, unit_table

    parts: list[Part] = [report.title(ranked), "", report.table(ranked)]
    if ranked.apart:
        parts += ["", report.apart_table(ranked)]
    for units in ranked.units:
        parts += ["", unit_table(units), "", *unit_sentences(units)]
    printed = Printed(
        report.title(ranked),
        [*parts, "", *report.reading(ranked)],
        ranked.model_dump(mode="json"),
        report.conclusion(ranked),
        own_markdown=report.markdown(ranked),
        own_page=report.page(ranked) if format == "html" else "",
        own_sheet=report.sheet(ranked),
    )
    show(printed, format)
