"""`recallbench grow`: the same questions over larger haystacks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, argument, choice, command, option, typed
from recallbench.corpora.labelled_sets import options as labelled_options
from recallbench.corpora.matching import options as matching_options
from recallbench.reports.table import print_parts

EXAMPLES = (
    "Examples: recallbench grow locomo --store bm25; recallbench grow DIR --distractors more.jsonl --match tokens "
    "--match-chunk 60."
)


@command(
    argument(
        "corpus",
        "locomo, longmemeval, canary-locomo, …, or a labelled set: DIR, or hub:OWNER/NAME@<40 hex digits>; none with "
        "--corpus-shape.",
        required=False,
    ),
    option("factors", "How many times their own size the haystacks grow to.", default="1,2,5,10"),
    option(
        "distractors", "Documents to add (JSON lines with _id and text) [default: the other haystacks'].", type=PATH
    ),
    option("seed", "The seed by which documents are drawn.", type=int, default=42),
    *options.of_corpus(*matching_options.OPTIONS, *labelled_options.OPTIONS),
    options.RANDOM_MATCHES,
    *options.SYSTEM,
    *options.of_stores(),
    *options.CORPUS,
    options.LIMIT,
    options.DEPTH,
    choice("format", "How the table is printed.", ["text", "markdown", "json"], default="text"),
    option("plot", "Draw recall and p95 against the size into this SVG file.", type=PATH),
    options.CACHE_DIR,
    options.QUIET,
    options.CONFIG,
    epilog=f"{EXAMPLES} {EPILOG}",
)
def grow(
    corpus: str | None,
    factors: str,
    distractors: Path | None,
    seed: int,
    format: str,
    plot: Path | None,
    quiet: bool,
    **others: Any,
) -> int:
    """Add documents that answer nothing to every haystack, ask again, and show recall and p95 against the size.

    No result folder is written: nothing could be compared with a grown haystack. With --match, a document that matches
    what a query of a haystack expects is left out of that haystack, and counted.
    """
    from recallbench.cli.bars import listener
    from recallbench.cli.measure.labelled_target import of_hub, take_target
    from recallbench.errors import UsageError
    from recallbench.reports.growth import document, markdown, notes, picture, table
    from recallbench.studies.growth import growth

    words = factors.split(",")
    if not all(word.strip().isdigit() and int(word) > 0 for word in words):
        raise UsageError(
            f"--factors {factors} are no sizes", expected="whole numbers, as 1,2,5,10", found=factors, remedy="1,2,5,10"
        )
    corpus = options.take_corpus(corpus, others)
    target = take_target(corpus, others)
    labelled = of_hub(corpus) or Path(corpus).is_dir()
    run_options = options.run_options(corpus=corpus if labelled else options.single_corpus(corpus), **others)
    unfit = (
        ("corpus_file",)
        if labelled
        else ("match", "match_chunk", "allow_random_matches", "split", "qrels_revision", "pin")
    )
    if unfitting := typed(*unfit):
        raise UsageError(
            f"{unfitting} is for a {'registered corpus' if labelled else 'labelled set'}",
            expected="locomo, longmemeval or the like" if labelled else "a folder, or hub:OWNER/NAME@<40 hex digits>",
            found=corpus,
            remedy=f"leave {unfitting} out",
        )
    progress = listener(quiet)
    if labelled:
        name, folder = target.obtain(run_options, progress)
        run_options = replace(run_options, corpus=name, corpus_file=folder)
    grown = growth(run_options, sorted({int(word) for word in words}), distractors, seed, progress)
    if format == "json":
        print(json.dumps(document(grown), indent=1))
    elif format == "markdown":
        print(markdown(grown), end="")
    else:
        print_parts(table(grown), *notes(grown))
    if plot is not None:
        from recallbench.cli.output_file import write_output

        write_output(plot, picture(grown))
    return 0
