"""The frozen protocol and its clarifications as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CorpusRules:
    """What the protocol registers of one corpus."""

    name: str
    paper: str
    source: str
    """The hub dataset or repository that publishes the file."""
    file: str
    sha256: str
    revision: str
    variable: str
    """The environment variable that names a local folder."""
    embedder: str
    questions: int
    with_evidence: int
    segments: int
    kinds: Mapping[str, int]
    segments_per_scope: tuple[int, ...]
    forbidden_segments: int
    """The count a forbidden granularity would give; 0 where none is named."""
    bands: Mapping[str, float]
    """Run-to-run variance by protocol metric."""
    baselines: Mapping[str, float]
    """The published v0.2.1 figures by protocol metric."""


@dataclass(frozen=True, slots=True)
class Clarification:
    """One numbered resolution of what the frozen text leaves open."""

    number: int
    title: str
    text: str
    corpora: tuple[str, ...]
    """The corpora it concerns; empty means all."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Version 1.0.0 and the clarifications in force."""

    version: str
    frozen: str
    cited_as: str
    sha256: str
    clarifications_sha256: str
    published_sha256: str
    """sha256 of the text that governs, where it was published."""
    max_tokens: int
    batch_size: int
    seed: int
    default_k: int
    mrr_depth: int
    settings: Mapping[str, str]
    """Session settings of the canonical store."""
    canonical_store: str
    corpora: Mapping[str, CorpusRules]
    gates: tuple[tuple[str, str], ...]
    """Name and requirement of each gate, in the protocol's order."""
    clarifications: tuple[Clarification, ...]
    locomo_kinds: Mapping[int, str]
    """What LoCoMo's category numbers mean (clarification 3)."""
    evidence_repairs: Mapping[str, tuple[int, ...]]
    """Malformed LoCoMo evidence strings, with the sessions each one means (clarifications 4 and 13)."""
