"""What `recallbench evaluate --run FILE --gold FILE` does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from recallbench.errors import UsageError


@dataclass(frozen=True, slots=True)
class Asked:
    """The options, as given."""

    run: Path | None
    gold: Path | None
    k: int
    by: str | None
    format: Literal["text", "markdown", "csv", "json"]
    match: Literal["id", "exact", "tokens"]
    match_threshold: float
    match_chunk: int | None
    texts: Path | None
    ks: str | None
    plot: Path | None
    compare: Path | None
    keep_going: bool


def evaluate_run(asked: Asked) -> int:
    """Score the files and print the table; 1 where cases failed."""
    raise UsageError("rankings can't be scored yet", found=str(asked.run))
