"""Where a fault can strike: the phases of commands, each known by the functions that it begins with."""

from __future__ import annotations

from dataclasses import dataclass

ENCODER = ("--embedder", "python:encoder:embed")
EXACT = ("--store", "exact", *ENCODER)
OUT = ("--out", "results")


@dataclass(frozen=True)
class Phase:
    """A part of a command's work, and the scenes in which it can be met."""

    name: str
    entries: tuple[str, ...]
    """`file below the package:qualified name` of each function that opens it, with * for anything: all that it calls
    belongs to the phase, unless that opens another one."""
    scenes: tuple[str, ...]


SCENES: dict[str, tuple[str, ...]] = {
    "corpus": ("run", "canary-locomo", *EXACT, *OUT),
    "release": ("run", "longmemeval", "--corpus-file", "long.json", "--allow-deviation", "dataset", *EXACT, *OUT),
    "set": ("evaluate", "team", *EXACT, *OUT),
    "server": ("run", "canary-locomo", "--limit", "40", "--store", "pgvector", *ENCODER, *OUT),
    "sweep": ("sweep", "tune.toml", "canary-locomo", "--limit", "12", *ENCODER, *OUT),
    "latency": ("latency", "canary-locomo", "--limit", "6", *EXACT, "--seconds", ".1", "--clients", "1", *OUT),
    "nodes": ("sweep", "tune.toml", "canary-locomo", "--limit", "12", "--embedder", "hash", "--engine", "ray", *OUT),
}
"""Commands that take about a second, but for Ray's, over files that are made anew for each case."""
RUNS = ("corpus", "release", "set")

# A phase more is a line more.
PHASES = (
    Phase("read", ("corpora/registry.py:open_corpus", "corpora/stream.py:sha256_of", "reading.py:*"), RUNS),
    Phase("parse", ("corpora/*:*.survey", "corpora/*:*.haystacks"), RUNS),
    Phase("embed", ("embedding/cached_embedder.py:CachedEmbedder.ensure",), RUNS),
    Phase("ingest", ("stores/*:*Store.prepare", "stores/*:*Store.ingest", "stores/*:*Store.ready"), ("server", *RUNS)),
    Phase("search", ("retrieval/loop.py:ask",), ("server", *RUNS)),
    Phase("score", ("runs/assembly.py:assemble",), RUNS),
    Phase("write", ("runs/writing.py:write",), RUNS),
    Phase("sweep", ("studies/sweep/study.py:sweep",), ("sweep",)),
    Phase("latency", ("studies/latency/latency.py:measure_latency",), ("latency",)),
    Phase("the rest", ("cli/main.py:_run",), ("server", "sweep", *RUNS)),
)
# Apart, since starting a cluster takes as long as ten other cases.
ON_NODES = (Phase("ray", ("cluster/*:*", "studies/sweep/on_nodes.py:*"), ("nodes",)),)
