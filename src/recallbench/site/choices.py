"""What a user chooses of a site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recallbench.compare.rules import Requirement
from recallbench.results.trec import Ties
from recallbench.scoring.costs import Prices
from recallbench.scoring.measures.measure import Measure

TITLE = "Board of results"


@dataclass(frozen=True, slots=True)
class SiteChoices:
    """What stands on a board, and how it is judged."""

    measures: Sequence[Measure]
    """The first one decides the order and is drawn."""
    prices: Prices
    environ: Mapping[str, str]
    corpus_files: Sequence[Path] = ()
    gates: Sequence[Requirement] = ()
    ties: Ties = "file"
    verified: bool = False
    """Whether git has to hold the files of a result."""
    copy: bool = False
    """Whether the pages of results are written into the site."""
    title: str = TITLE
    kept_audits: Path | None = None
    """The folder in which audits are kept; None makes every one, and keeps none."""
    cache_dir: Path | None = None
    """Where an audit finds fetched weights; None where the environment says."""
