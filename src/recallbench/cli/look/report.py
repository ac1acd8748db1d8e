"""`recallbench report`: a page for a result."""

from __future__ import annotations

import os
from pathlib import Path

from recallbench.cli import options
from recallbench.cli.command import PATH, VARIABLES, argument, command, flag, former, option
from recallbench.cli.printing import show
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Table

EXAMPLES = "Examples: recallbench report results/0.4.2_20261119; recallbench report DIR --with-text --save page.html."


@command(
    argument("results", "Result folders.", nargs=-1, required=True, metavar="DIR...", type=PATH),
    option(
        "save", "The file that the page of a single result goes to [default: DIR.html, beside the folder].", type=PATH
    ),
    former("out", "save", type=PATH),
    flag(
        "with-text",
        "Show the texts of what was not found, from the folder or from the corpus where that is here: corpus text, "
        "which its licence may not let you publish.",
    ),
    *options.FORMAT,
    epilog=f"{EXAMPLES} {VARIABLES}",
)
def report(results: tuple[Path, ...], save: Path | None, with_text: bool, format: Format) -> int:
    """Write a page for a result beside its folder, as DIR.html: picture, kinds, latency, failures.

    One file that asks for nothing from elsewhere. Texts are shown with --with-text alone.
    """
    from recallbench.cli.bars import Notes
    from recallbench.compare.folders import texts_at_hand
    from recallbench.errors import UsageError
    from recallbench.reports.conclusions.pages import WrittenPage, conclude_pages
    from recallbench.reports.result_page import failed_questions, page_of
    from recallbench.results import manifest
    from recallbench.results.result import open_with_manifest
    from recallbench.whole_file import check_place, write_output

    if save is not None and len(results) > 1:
        raise UsageError("--save names one page", expected="one result", found=f"{len(results)} results")
    if save is not None:
        check_place(save)
    pages = []
    for folder in results:
        result = open_with_manifest(folder)
        texts, failed = None, failed_questions(result.metrics, result.rankings) if with_text else []
        if failed:
            texts = texts_at_hand(result, os.environ)(failed)
            if not texts.questions:
                Notes().note(f"{folder}: no texts, since it has none and the file that was measured is not here")
        target = save or folder.resolve().with_name(f"{folder.resolve().name}.html")
        write_output(target, page_of(result, result.metrics, texts))
        shown = texts is not None and bool(texts.questions)
        pages.append(WrittenPage(str(folder), str(target), not manifest.differences(folder), shown))
    rows = [(each.folder, each.page) for each in pages]
    written = Table(("result", "page"), rows, caption="Pages that were written")
    conclusion = conclude_pages(pages, with_text=with_text)
    parts = [each.page for each in pages]
    show(Printed("Pages that were written", parts, {"pages": written.records()}, conclusion, own_sheet=written), format)
    return 0
