"""The options of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from recallbench.cluster.engine import HERE, Engine
from recallbench.embedding.options import Backend, Dtype
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.stores.registry import recorded_options

Time = Literal["kept", "ignored"]
Controls = Literal["bm25", "bm25,static"]
ALLOWABLE = frozenset({"dataset"})
"""Deviations that must be asked for by name; the others are options of their own."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one run. None chooses what the protocol asks for, or the nearest that is here."""

    corpus: str
    version: str | None = None
    store: str | None = None
    dsn: tuple[str, ...] = ()
    """The Postgres servers to measure; over several, each haystack is on one of them."""
    embedder: str | None = None
    max_tokens: int | None = None
    """The user's own length for an encoder of one's own."""
    dtype: Dtype = "fp32"
    """What the encoder computes in."""
    backend: Backend = "auto"
    store_options: Mapping[str, str] = field(default_factory=dict)
    """The options of the store that the user set, by name."""
    pipeline: Pipeline | None = None
    """The stages between a question and its ranking; None for search alone."""
    corpus_file: Path | None = None
    download: bool = True
    out: Path | None = None
    folder: Path | None = None
    label: str | None = None
    limit: int | None = None
    depth: int = 50
    pooled: bool = False
    time: Time = "kept"
    """Whether a question sees only what was said before it; that counts for corpora that say what this is."""
    controls: Controls = "bm25"
    """What is measured beside the store on the same questions; BM25 always is."""
    reproduce: str | None = None
    """A published baseline to measure again, its own way, beside the result."""
    allow_deviations: frozenset[str] = frozenset()
    allow_random_matches: bool = False
    """Gold from texts counts although many random ones match."""
    with_text: bool = False
    keep_going: bool = False
    """A question that the store fails on gets an empty ranking, and does not end the run."""
    engine: Engine = HERE
    """Where vectors are computed and the points of a study measured; that decides nothing of them."""
    cache_dir: Path = Path()
    environ: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] | None = None
    """The words of a command that does the same, where the run is none of the command line."""

    def without_encoder(self) -> Options:
        """Return the options for a store that needs no vectors, where others of the same command do."""
        return replace(self, embedder=None, max_tokens=None, dtype="fp32")

    def recorded(self) -> dict[str, Any]:
        """Every option by the name under which results have it; those of the store stand among the others."""
        recorded: dict[str, Any] = {}
        for option in fields(self):
            value = getattr(self, option.name)
            unnamed = {
                "time": value == "kept",
                "controls": value == "bm25",
                "dtype": value == "fp32",
                "allow_random_matches": not value,
            }
            if option.name == "command" or unnamed.get(option.name, False):
                continue  # the first stands for itself, and results of earlier releases do not name the others
            recorded |= recorded_options(value) if option.name == "store_options" else {option.name: value}
        if self.pipeline is None:
            del recorded["pipeline"]
        else:
            recorded["pipeline"] = self.pipeline.source
        if self.engine == HERE:
            del recorded["engine"]
        else:
            recorded["engine"] = self.engine.name  # and not the address, which is a place
        if self.max_tokens is None:
            del recorded["max_tokens"]  # results have the bytes of releases that knew no such option
        return recorded
