"""What a run was asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from recallbench.embedding.options import Backend

ALLOWABLE = frozenset({"dataset"})
"""Deviations that must be asked for by name; the others are options of their own."""


@dataclass(frozen=True, slots=True)
class Options:
    """One run. None means: choose what the protocol asks for, or the nearest that is here."""

    corpus: str
    version: str | None = None
    store: str | None = None
    dsn: str | None = None
    embedder: str | None = None
    backend: Backend = "auto"
    weights: str | None = None
    call: str | None = None
    function: str | None = None
    """Of the extension pgmnemo; None is the canonical one."""
    dates: str | None = None
    """`constant` or `dataset`, for pgmnemo; None is constant."""
    ranker: str | None = None
    """Of the store graph; None is its default."""
    corpus_file: Path | None = None
    download: bool = True
    out: Path | None = None
    folder: Path | None = None
    label: str | None = None
    limit: int | None = None
    depth: int = 50
    pooled: bool = False
    reproduce: str | None = None
    """A published baseline to measure again, its own way, beside the result."""
    allow_deviations: frozenset[str] = frozenset()
    with_text: bool = False
    keep_going: bool = False
    """A question that the store fails on gets an empty ranking, and does not end the run."""
    cache_dir: Path = Path()
    environ: Mapping[str, str] = field(default_factory=dict)
