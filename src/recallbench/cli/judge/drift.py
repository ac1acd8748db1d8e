"""`recallbench drift`: a measure over stored results, and whether it moves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recallbench.cli import options
from recallbench.cli.command import PATH, VARIABLES, argument, command, flag, option, typed
from recallbench.cli.picture_file import check_picture
from recallbench.cli.printing import show
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Part
from recallbench.whole_file import check_place, write_output

if TYPE_CHECKING:
    from recallbench.reports.drift import Drift

EXAMPLES = (
    "Examples: recallbench drift benchmarks/locomo/results; recallbench drift nightly/* --measure mrr@50 "
    "--plot drift.svg --fail-on-trend; recallbench drift nightly --format html > drift.html."
)


@command(
    argument(
        "results",
        "Result folders, patterns, or folders that hold results.",
        nargs=-1,
        required=True,
        metavar="RESULTS...",
    ),
    option("measure", "The measure to follow, by its exact name.", default="recall_any@10"),
    *options.FORMAT,
    option("plot", "Also write the plot, as FILE.svg.", type=PATH, metavar="FILE.svg"),
    option("out", "What --plot and --format html were before.", type=PATH, hidden=True),
    flag("fail-on-trend", "Exit 1 when the measure falls over time, or the last is below the first."),
    *options.FAILURES,
    epilog=f"{EXAMPLES} {VARIABLES}",
)
def drift(
    results: tuple[str, ...],
    measure: str,
    format: Format,
    plot: Path | None,
    out: Path | None,
    fail_on_trend: bool,
    fail_if: tuple[str, ...],
    strict: bool,
) -> int:
    """Follow a measure over stored results, earliest first, with its intervals, and flag a trend.

    A trend is proven by Mann and Kendall's test, at p of .05 or less, over five results or more. The last result is
    also compared with the first, question by question; --fail-if decides on these two. Only results of the same
    protocol, dataset, depth, scope, embedder and store are compared: the largest such group. The others are listed with
    the reason.
    """
    from recallbench.compare import drift as verdict
    from recallbench.compare.conclusions.drift import conclude_drift
    from recallbench.compare.rules import exit_code, parse_failures
    from recallbench.errors import UsageError
    from recallbench.reports import drift as report
    from recallbench.reports.drift_page import page, picture
    from recallbench.results.dated import result_folders
    from recallbench.scoring.measures.registry import parse

    check_picture(plot)
    if not typed("out"):
        out = None  # the variable is for the parent folder of results
    if out is not None and out.suffix not in (".html", ".svg"):
        raise UsageError(f"--out {out} is neither page nor picture", expected="a name that ends in .html or .svg")
    if out is not None:
        check_place(out)
    rules = parse_failures(fail_if, strict)
    folders = [folder for place in results for folder in result_folders(place, Path())]
    followed = verdict.drift(folders, parse(measure), rules)
    printed = Printed(
        report.title(followed),
        _parts(followed),
        followed.model_dump(mode="json"),
        conclude_drift(followed, strict=strict, fail_on_trend=fail_on_trend),
        own_markdown=report.markdown(followed),
        own_page=page(followed) if format == "html" else "",
    )
    show(printed, format)
    for path in (plot, out):
        if path is not None:
            write_output(path, page(followed) if path.suffix == ".html" else picture(followed))
    return 1 if fail_on_trend and followed.fell else exit_code(followed.conditions, (), strict=strict)


def _parts(followed: Drift) -> list[Part]:
    from recallbench.reports import drift as report

    below = [*report.left_out(followed), *report.findings(followed), *report.reading(followed)]
    return [report.title(followed), "", report.result_table(followed), "", *below]
