"""The questions of a labelled set in a table, after a store was run over it, and beside an earlier result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recallbench.cli.compare import between, lines
from recallbench.cli.score_tables import Compared, Wanted, show
from recallbench.errors import InputError
from recallbench.evaluation.store_run import StoreRun
from recallbench.experiment.run import Outcome
from recallbench.results import comparison_text
from recallbench.scoring.text_matching import Matching
from recallbench.verdict.comparison_folders import folder_side

if TYPE_CHECKING:
    from recallbench.cli.compare import Folder

SHOWN = 5
"""Questions that changed most."""


def earlier(folder: Path, name: str) -> Folder:
    """The result to hold a new one of the set `name` against; raises InputError for one of something else."""
    side, metrics = folder_side(folder)
    if metrics.corpus.name != name:
        raise InputError(
            f"{folder} is a result of something else",
            expected=name,
            found=metrics.corpus.name,
            remedy="compare results over the same files, matched alike",
        )
    return side, metrics


def tell(wanted: Wanted, outcome: Outcome, matching: Matching, before: Folder | None) -> None:
    """Print what is wanted; the figures are those of the result, at any k."""
    metrics, calls = outcome.metrics, outcome.metrics.retrieval.calls
    found = StoreRun(outcome.retrieval, matching, k=calls[0], depth=calls[-1])
    more = {"result": str(outcome.folder), "corpus": metrics.corpus.name, "verdict": metrics.verdict.text}
    if wanted.format == "text":
        print()  # below the lines that every run ends with
    tradeoff = found.tradeoff(wanted.ks) if wanted.ks else None
    show(wanted, found.report(wanted.k), tradeoff, None if before is None else _compared(before, outcome), more)


def _compared(before: Folder, outcome: Outcome) -> Compared:
    """As `recallbench compare` has it, whatever of the system under test was changed."""
    found = between(before, folder_side(outcome.folder), (), (), ("embedder", "store"), SHOWN)
    return Compared(found.model_dump(mode="json"), lines(found), comparison_text.markdown(found).splitlines())
