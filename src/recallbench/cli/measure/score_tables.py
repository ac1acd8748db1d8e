"""Options of tables of scores, and their printing: queries, k against k, one run against another."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallbench.cli import printing
from recallbench.cli.command import typed
from recallbench.cli.picture_file import check_picture
from recallbench.errors import UsageError
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Part
from recallbench.whole_file import write_output

if TYPE_CHECKING:
    from recallbench.cases.definitions import Definitions
    from recallbench.cases.report import Report
    from recallbench.cases.tradeoff import Tradeoff


@dataclass(frozen=True, slots=True)
class TableOptions:
    """The options of tables of scores, checked to fit together."""

    k: int
    by: str | None
    format: Format
    ks: tuple[int, ...]
    """Depths to compare; empty for none."""
    plot: Path | None
    definitions: Definitions


def take_table(others: dict[str, Any], format: Format, *, comparing: bool) -> TableOptions:
    """Take the options of a table out of the others; raises UsageError with options that would work."""
    from recallbench.cases.definitions import Definitions
    from recallbench.scoring.depth import depth_of

    definitions = Definitions(*(others.pop(name) for name in ("precision", "ndcg", "percentiles")))
    k, by, ks, plot = (others.pop(name) for name in ("k", "by", "ks", "plot"))
    if ks is None and not typed("plot"):
        plot = None  # a plot that stands in a file or variable for whenever there is one
    depths = _depths(ks)
    if plot is not None and not depths:
        raise UsageError("--plot draws what --ks works out", expected="--ks 1,3,5,10,20", found="none")
    check_picture(plot)
    if format == "csv" and (depths or comparing):
        raise UsageError(
            "CSV holds one table, that of the queries",
            expected="no --ks and no --compare, or another form",
            found="--format csv",
            remedy="--format json holds everything",
        )
    return TableOptions(depth_of(k), by, format, depths, plot, definitions)


@dataclass(frozen=True, slots=True)
class RenderedComparison:
    """A comparison of two runs, in each form."""

    document: dict[str, Any]
    text: Sequence[Part]
    markdown: Sequence[str]


def show(
    options: TableOptions,
    report: Report,
    tradeoff: Tradeoff | None,
    compared: RenderedComparison | None,
    more: dict[str, Any] | None = None,
    conclusion: Conclusion | None = None,
) -> None:
    """Print everything on stdout and draw the plot; `more` goes into JSON.

    Raises InputError for a plot that can't be written, after everything was printed.
    """
    printing.show(_printed(options, report, tradeoff, compared, more or {}, conclusion), options.format)
    if options.ks and tradeoff is None:
        drawn = "" if options.plot is None else f", and {options.plot} was not drawn"
        print(f"recallbench: no figures at other depths: no case has anything to find{drawn}", file=sys.stderr)
    elif tradeoff is not None and options.plot is not None:
        write_output(options.plot, tradeoff.plot().picture())


def _printed(
    options: TableOptions,
    report: Report,
    tradeoff: Tradeoff | None,
    compared: RenderedComparison | None,
    more: dict[str, Any],
    conclusion: Conclusion | None,
) -> Printed:
    from recallbench.cases.document import document, sheet
    from recallbench.cases.table import parts

    fields = {**more, **document(report, options.by)}
    if options.ks:
        fields["ks"] = None if tradeoff is None else tradeoff.document()
    shown: list[Part] = list(parts(report, options.by))
    markdown = report.table("markdown", options.by)
    if tradeoff is not None:
        shown += ["", tradeoff.table(), "", tradeoff.sentence()]
        markdown += "\n".join(["", *tradeoff.table().markdown(), "", tradeoff.sentence(), ""])
    if compared is not None:
        fields["compare"] = compared.document
        shown += ["", *compared.text]
        markdown += "\n".join(["", *compared.markdown, ""])
    title = f"Scores of {len(report)} queries"
    return Printed(title, shown, fields, conclusion, own_markdown=markdown, own_sheet=sheet(report, options.by))


def _depths(text: str | None) -> tuple[int, ...]:
    from recallbench.scoring.depth import depth_in

    if text is None:
        return ()
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdigit() for word in words):
        raise UsageError("--ks are depths", expected="whole numbers with commas, as 1,3,5,10,20", found=text)
    return tuple(depth_in(word, "--ks are depths") for word in words)
