"""`recallbench matrix`: encoders times corpora, and which differences are real."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallbench.cli import encoder_options, options
from recallbench.cli.command import EPILOG, PATH, command, option
from recallbench.cli.engine_options import ENGINE
from recallbench.cli.printing import show as print_matrix
from recallbench.cli.server_option import DSN
from recallbench.cli.typed_command import typed_command
from recallbench.reports.printing.printed import Format

if TYPE_CHECKING:
    from recallbench.progress import Progress
    from recallbench.runs.options import Options

EXAMPLES = (
    "Examples: recallbench matrix --encoders minilm@128,minilm@256,minilm@512 --corpora locomo,realtalk; recallbench "
    "matrix --encoders minilm,path:DIR --corpora realmem,DIR --store exact --format markdown."
)


@command(
    option(
        "encoders",
        "Encoders as --embedder of `run` takes them, separated by commas, each with @TOKENS where it is to read less "
        "or more of a text than by itself (minilm@256); the first one is what others are held against.",
    ),
    option(
        "corpora",
        "Corpora, separated by commas: locomo, longmemeval, realtalk, …, all that are at hand, or your own data (DIR, "
        "./NAME where a corpus has that name, or hub:OWNER/NAME@<40 hex digits>).",
    ),
    option("store", "The store that searches the vectors.", default="exact"),
    option("show", "Print a matrix that was measured, from its folder, and measure nothing.", type=PATH),
    *options.OWN_DATA,
    DSN,
    encoder_options.BACKEND,
    *options.of_stores(),
    *options.CORPUS,
    *ENGINE,
    *options.STUDY,
    *options.GENERAL,
    epilog=f"{EXAMPLES} {EPILOG}",
)
def matrix(
    encoders: str | None, corpora: str | None, show: Path | None, format: Format, quiet: bool, **others: Any
) -> int:
    """Measure every encoder on every corpus, and tell which differences are real.

    Each cell is a run with a result folder of its own, beside what embedding takes: seconds of processors by a probe
    that embeds some of the corpus' own texts anew, whatever the cache holds, and the share of texts that the encoder
    leaves unread. BM25 and chance stand beside. Encoders are compared in pairs over the same questions: every pair, the
    same one with more or fewer tokens, and each against the first, corpus by corpus and over all together; within each
    p is corrected for the number of tests.

    A cell that is there, whole and of the same settings is read, so that a killed matrix goes on where it was. One that
    fails is named with its reason, and the others go on. Leaves a folder with matrix.md, matrix.json, cells.csv,
    pairs.csv and matrix.svg. Exits with 1 where a cell failed.
    """
    from recallbench.cli.bars import listener
    from recallbench.errors import UsageError
    from recallbench.reports.matrix.document import read_matrix
    from recallbench.reports.matrix.page import printed
    from recallbench.studies.matrix.study import measure_matrix
    from recallbench.studies.matrix.windows import read_encoders

    if show is not None:
        kept = read_matrix(show)
        has_cells = all((show / cell.folder).is_dir() for cell in kept.cells)
        print_matrix(printed(kept, show, has_cells=has_cells), format)
        return 1 if kept.failed else 0
    if not (words := options.words_of(encoders or "")) or not (named := options.words_of(corpora or "")):
        raise UsageError(
            "a matrix has encoders and corpora",
            expected="--encoders minilm@256,minilm@512 --corpora locomo,realtalk",
            found=f"--encoders {encoders or 'none'}, --corpora {corpora or 'none'}",
            remedy="recallbench embedders and recallbench corpora list them",
        )
    progress = listener(quiet)
    read = read_encoders(words)
    study = measure_matrix(read, _corpora(named, others, progress), progress, date.today())
    print_matrix(printed(study.document, study.folder, typed_command()), format)
    return 1 if study.document.failed else 0


def _corpora(words: list[str], others: dict[str, Any], progress: Progress) -> list[Options]:
    """Return the options of a run on each of these corpora; raises UsageError for a name that is none."""
    from recallbench.cli.measure.corpus_or_set import is_labelled, obtain_corpus
    from recallbench.cli.measure.run import corpora_at_hand
    from recallbench.corpora.registry import ALL, names

    single: list[str] = []
    for word in words:
        named = [word] if is_labelled(word) else names(word)
        single += corpora_at_hand(os.environ, named) if word == ALL else named
    return [obtain_corpus(name, dict(others), progress) for name in single]
