"""`recallbench grow`: the same questions over larger haystacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, command, option
from recallbench.cli.picture_file import check_picture
from recallbench.cli.printing import show
from recallbench.cli.typed_command import typed_command
from recallbench.reports.printing.printed import Format
from recallbench.whole_file import write_output

EXAMPLES = (
    "Examples: recallbench grow locomo --store bm25; recallbench grow DIR --distractors more.jsonl --match tokens "
    "--match-chunk 60."
)


@command(
    options.CORPUS_OR_SET,
    option("factors", "How many times their own size the haystacks grow to.", default="1,2,5,10"),
    options.DISTRACTORS,
    option("seed", "The seed by which documents are drawn.", type=int, default=42),
    *options.OWN_DATA,
    *options.of_system(),
    *options.CORPUS,
    options.REQUIRE_QUIET,
    option("plot", "Draw recall and p95 against the size into this SVG file.", type=PATH),
    *options.GENERAL,
    epilog=f"{EXAMPLES} {EPILOG}",
)
def grow(
    corpus: str | None,
    factors: str,
    distractors: Path | None,
    seed: int,
    require_quiet: bool,
    format: Format,
    plot: Path | None,
    quiet: bool,
    **others: Any,
) -> int:
    """Add documents that answer nothing to every haystack, ask again, and show recall and p95 against the size.

    No result folder is written: nothing could be compared with a grown haystack. With --match, a document that matches
    what a query of a haystack expects is left out of that haystack, and counted.
    """
    from recallbench.cli.bars import listener
    from recallbench.cli.measure.corpus_or_set import obtain_corpus
    from recallbench.machine_load import MachineLoad, refuse_unquiet
    from recallbench.reports.growth.page import printed
    from recallbench.reports.growth.picture import picture
    from recallbench.studies.growth import growth

    check_picture(plot)
    sizes = options.whole_numbers(factors, "factors", "1,2,5,10")
    progress = listener(quiet)
    run_options = obtain_corpus(corpus, others, progress)
    if require_quiet:
        refuse_unquiet(MachineLoad.while_idle())
    grown = growth(run_options, sizes, distractors, seed, progress)
    show(printed(grown, typed_command()), format)
    if plot is not None:
        write_output(plot, picture(grown))
    return 1 if require_quiet and any(size.disturbed for size in grown.sizes) else 0
