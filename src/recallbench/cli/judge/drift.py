"""`recallbench drift`: a measure over stored results, and whether it moves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recallbench.cli import options
from recallbench.cli.command import PATH, VARIABLES, argument, choice, command, flag, option
from recallbench.escaping.document import plain
from recallbench.reports.table import Part, print_parts

if TYPE_CHECKING:
    from recallbench.reports.drift import Drift

EXAMPLES = (
    "Examples: recallbench drift benchmarks/locomo/results; recallbench drift nightly/* --measure mrr@50 "
    "--out drift.html --fail-on-trend."
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
    choice("format", "How the series is printed.", ["text", "markdown", "json"], default="text"),
    option("out", "Also write a page with the plot (.html), or the plot alone (.svg).", type=PATH),
    flag("fail-on-trend", "Exit 1 when the measure falls over time, or the last is below the first."),
    *options.FAILURES,
    epilog=f"{EXAMPLES} {VARIABLES}",
)
def drift(
    results: tuple[str, ...],
    measure: str,
    format: str,
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
    from recallbench.compare.rules import exit_code, parse_failures
    from recallbench.errors import UsageError
    from recallbench.reports import drift as report
    from recallbench.results.dated import result_folders
    from recallbench.scoring.measures.registry import parse

    if out is not None and out.suffix not in (".html", ".svg"):
        raise UsageError(f"--out {out} is neither page nor picture", expected="a name that ends in .html or .svg")
    rules = parse_failures(fail_if, strict)
    folders = [folder for place in results for folder in result_folders(place, Path())]
    followed = verdict.drift(folders, parse(measure), rules)
    if format == "json":
        print(plain(followed.model_dump_json(indent=1)))
    elif format == "markdown":
        print(report.markdown(followed), end="")
    else:
        print_parts(*_parts(followed))
    if out is not None:
        _write(followed, out)
    return 1 if fail_on_trend and followed.fell else exit_code(followed.conditions, (), strict=strict)


def _write(followed: Drift, out: Path) -> None:
    from recallbench.cli.output_file import write_output
    from recallbench.reports.drift_page import page, picture

    write_output(out, page(followed) if out.suffix == ".html" else picture(followed))


def _parts(followed: Drift) -> list[Part]:
    from recallbench.reports import drift as report

    below = [*report.left_out(followed), *report.findings(followed), *report.reading(followed)]
    return [report.title(followed), "", report.result_table(followed), "", *below]
