"""`recallbench stages`: the stages there are, and what each one of a result's pipeline is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recallbench.cli import options
from recallbench.cli.command import PATH, VARIABLES, argument, choice, command, option, typed
from recallbench.cli.printing import show
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Table

if TYPE_CHECKING:
    from recallbench.retrieval.stages.stage import Kind
    from recallbench.scoring.gold_moves import Way

EXAMPLES = "Examples: recallbench stages; recallbench stages results/0.4.2_20261119 --questions demoted."


@command(
    argument(
        "result",
        "A result that was made by a pipeline; without it, the stages that there are.",
        required=False,
        metavar="[DIR]",
        type=PATH,
    ),
    choice("questions", "Name the questions whose gold a stage moved this way.", ["promoted", "demoted", "lost"]),
    option("stage", "Name the questions of this stage alone, by its name in the pipeline."),
    options.PRICES,
    *options.FORMAT,
    epilog=f"{EXAMPLES} {VARIABLES}",
)
def stages(result: Path | None, questions: Way | None, stage: str | None, prices: Path | None, format: Format) -> int:
    """List the stages that a pipeline can have, or show what each stage of a result's pipeline did.

    For each stage: the rankings it changed, gold promoted into and demoted out of the top 10, the ceiling of what it
    hands on, what fusion lost, and the paired difference to the same pipeline without it, beside what it adds to p50
    and p95, its tokens, and their price.
    """
    from recallbench.errors import UsageError
    from recallbench.reports.stages import document as report
    from recallbench.reports.stages.of_result import stage_document
    from recallbench.results.costs.prices import read_prices
    from recallbench.results.result import open_with_manifest

    if result is None:
        if given := typed("questions", "stage", "prices"):
            raise UsageError(f"{given} is about a result", expected="recallbench stages DIR", found="no folder")
        show(_listed(), format)
        return 0
    if stage is not None and questions is None:
        raise UsageError(
            "--stage goes with --questions", expected="--questions promoted, demoted or lost", found="none"
        )
    document = stage_document(open_with_manifest(result), questions, stage, read_prices(prices))
    printed = Printed(
        report.title(document),
        report.parts(document),
        document.model_dump(mode="json"),
        report.conclusion(document),
        own_markdown=report.markdown(document),
        own_page=report.page(document) if format == "html" else "",
        own_sheet=report.sheet(document),
    )
    show(printed, format)
    return 0


def _listed() -> Printed:
    from recallbench.retrieval.stages.registry import METHODS, options_of, stage_class

    by_class: dict[str, tuple[Kind, list[str]]] = {}
    for kind, methods in METHODS.items():
        for method, path in methods.items():
            by_class.setdefault(path, (kind, []))[1].append(method)
    known = [(kind, methods, stage_class(kind, methods[0])) for kind, methods in by_class.values()]
    what = Table(
        ("kind", "method", "what it does"),
        [(kind, ", ".join(m), stage.summary) for kind, m, stage in known],
        caption="The stages that a pipeline can have",
    )
    rows = [
        (kind, ", ".join(methods), f"{option.name} = {'|'.join(option.values) or '…'}", option.description)
        for kind, methods, _ in known
        for option in options_of(kind, methods[0])
    ]
    settable = "what the table of a stage in a pipeline's file may hold beside kind, method and a name of its own:"
    decides = Table(("kind", "method", "option", "what it decides"), rows, caption="What can be set of each")
    document = {"stages": what.records(), "options": decides.records()}
    # One table for a spreadsheet: a filter of its first column leaves the stages alone, or what can be set.
    sheet = Table(
        ("table", "kind", "method", "option", "what it does or decides"),
        [("stage", kind, methods, "", does) for kind, methods, does in what.rows] + [("option", *row) for row in rows],
    )
    return Printed("The stages of a pipeline", [what, "", settable, decides], document, own_sheet=sheet)
