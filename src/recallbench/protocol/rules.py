"""The frozen protocol and its clarifications as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from recallbench.protocol.packed_vectors import PackRules


@dataclass(frozen=True, slots=True)
class CorpusRules:
    """The registered facts of one corpus."""

    name: str
    paper: str
    source: str
    """The hub dataset or repository that publishes the file."""
    file: str
    sha256: str
    revision: str
    """The pinned revision of `source`; empty where none is known."""
    variable: str
    """The environment variable that names a local folder."""
    embedder: str
    questions: int
    with_evidence: int
    """Questions that are scored."""
    segments: int
    kinds: Mapping[str, int]
    segments_per_scope: tuple[int, ...]
    """In file order; empty where the protocol doesn't say."""
    forbidden_segments: int
    """The count a forbidden granularity would give; 0 where none is named."""
    bands: Mapping[str, float]
    """Run-to-run variance by protocol metric."""
    baselines: Mapping[str, float]
    """The published v0.2.1 figures by protocol metric."""
    baseline_intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Their 95% intervals, where one was published."""
    denominators: Mapping[str, int] = field(default_factory=dict)
    """Each named denominator, the protocol's first (clarification 5)."""
    scopes: int = 0
    """Conversations, or items with a haystack of their own; 0 where the protocol doesn't say."""
    abstentions: int = 0
    missing_turns: int | None = None
    """References to turns that do not exist, as the registered files have them; None where none are registered."""
    unseen_gold: int | None = None
    """References to sessions that their question can't see; None where none are registered."""
    visible: int = 0
    """The segments that questions may see, over all of these; 0 where none is held to what was said before it."""


@dataclass(frozen=True, slots=True)
class EmbedderRules:
    """The canonical embedder of one corpus, pinned."""

    name: str
    corpus: str
    query_repo: str
    query_revision: str
    context_repo: str
    context_revision: str
    """The same as the query's where one model encodes both sides."""
    dims: int
    stored_dims: int
    """More than `dims` where vectors are padded with zeros."""


@dataclass(frozen=True, slots=True)
class WeightFile:
    """A file of weights whose hash is known (clarification 17)."""

    repo: str
    revision: str
    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Clarification:
    """One numbered resolution of what the frozen text leaves open."""

    number: int
    dated: date
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
    earlier_clarifications: tuple[str, ...]
    """sha256 of each earlier release of the clarifications: results made under them stay what they were."""
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
    embedders: Mapping[str, EmbedderRules]
    gates: tuple[tuple[str, str], ...]
    """Name and requirement of each gate, in the protocol's order."""
    clarifications: tuple[Clarification, ...]
    locomo_kinds: Mapping[int, str]
    """The kinds behind LoCoMo's category numbers (clarification 3)."""
    evidence_repairs: Mapping[str, tuple[int, ...]]
    """Malformed LoCoMo evidence strings, with the sessions each one means (clarifications 4 and 13)."""
    weights: tuple[WeightFile, ...]
    """Files of weights whose hash is known (clarification 17)."""
    packs: PackRules
    """What is asked of portable vectors (clarification 18)."""
    without_figures: frozenset[int]
    """Clarifications that change no figure."""
    figures_of: Mapping[str, str]
    """For each release of the clarifications the first one under which figures count the same, by their sha256."""

    def of_figures(self, numbers: Iterable[int]) -> list[int]:
        """Return those of these clarifications that decide figures."""
        return [number for number in numbers if number not in self.without_figures]

    def counted_under(self, clarifications_sha256: str) -> str:
        """Return what stands for a release of the clarifications where figures are set beside each other."""
        return self.figures_of.get(clarifications_sha256, clarifications_sha256)


def applied(
    rules: Rules, corpus: CorpusRules, reading: Iterable[int], store: str, embedder: str | None, *, packed: bool
) -> tuple[int, ...]:
    """Return the clarifications that a run applied: those of `reading` the corpus, and the general ones."""
    general = {clarification.number for clarification in rules.clarifications if not clarification.corpora}
    if store != rules.canonical_store:
        general -= {12}  # the extension's retrieval call
    if corpus.name not in rules.corpora:
        general -= {16}  # where the registered files are published
    if embedder not in {registered.embedder for registered in rules.corpora.values()}:
        general -= {17}  # the canonical weights
    if not packed:
        general -= {18}  # portable vectors
    return tuple(sorted(general | set(reading)))
