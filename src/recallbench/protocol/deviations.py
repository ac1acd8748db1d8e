"""Deviations: a run's departures from the protocol."""

from __future__ import annotations

from dataclasses import dataclass

from recallbench.protocol.packed_vectors import PackedVectors
from recallbench.protocol.rules import CorpusRules, Rules

KINDS = {
    "dataset": "the corpus file is not the registered one",
    "corpus": "the corpus is not one the protocol registers",
    "embedder": "another embedder than the protocol's",
    "vectors": "vectors of a pack that do not count as the embedder's own",
    "precision": "vectors were computed in less than fp32",
    "store": "another store than the protocol's",
    "scope": "questions are not answered from their own haystack alone",
    "time": "questions may be answered from what was said after they were asked",
    "depth": "rankings are not 50 deep",
    "limit": "only part of the questions was asked",
    "settings": "session settings differ from the protocol's",
    "pipeline": "more than a search stands between question and ranking",
    "failures": "questions that the store failed on count as the worst answers",
    "reproduction": "a published figure was measured again under its own, flawed definition",
}

SUBSTITUTIONS = frozenset({"dataset", "corpus", "embedder", "store"})
"""Kinds where something takes the place of what the protocol names; the detail begins with its name."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """One departure from the protocol; `kind` is one of KINDS."""

    kind: str
    detail: str
    """One line. For one of SUBSTITUTIONS its first word names what took the place: `minilm instead of …`."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown deviation {self.kind!r}; known are {', '.join(KINDS)}")
        if not self.detail.strip() or "\n" in self.detail:
            raise ValueError(f"the detail of deviation {self.kind!r} must be one line of text, not {self.detail!r}")

    @property
    def name(self) -> str:
        """Its name in HISTORY.md: `embedder minilm` for a substitution, else the kind alone."""
        return f"{self.kind} {self.detail.split()[0]}" if self.kind in SUBSTITUTIONS else self.kind

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Configuration:
    """The choices of a run that can depart from the protocol."""

    sha256: str
    """The hash of the corpus file."""
    store: str
    variant: str
    """Settings of the store that are not its defaults, in words; empty where there are none."""
    embedder: str
    """Empty where the store needs none."""
    pooled: bool
    depth: int
    limit: int | None
    pipeline: str = ""
    """The stages in words and their hash; empty where a search stands alone."""
    reproduction: str = ""
    """The published baseline that was measured again beside the result; empty where none was."""
    time: str = ""
    """How questions were held to what was said before them: `filtered`, `replayed` or `ignored`; empty where the corpus
    does not ask for it."""
    dtype: str = "fp32"
    """What the encoder computed in."""
    failures: int = 0
    """Questions that the store failed on, in a run that kept going."""
    pack: PackedVectors | None = None
    """The pack that the vectors are of; None where they were made for the run, or kept from others."""


def departures(run: Configuration, corpus: CorpusRules, rules: Rules) -> tuple[Deviation, ...]:
    """Every deviation of a run; a result is labelled with them, and its audit derives them again."""
    registered = corpus.name in rules.corpora
    deviations = []
    if not registered:
        deviations.append(Deviation("corpus", f"{corpus.name} is no registered corpus"))
    if run.sha256 != corpus.sha256:
        deviations.append(Deviation("dataset", f"{run.sha256} instead of the registered {corpus.sha256}"))
    if registered and run.embedder != corpus.embedder:
        deviations.append(Deviation("embedder", f"{run.embedder or 'none'} instead of {corpus.embedder}"))
    if run.dtype != "fp32":
        deviations.append(Deviation("precision", f"vectors computed in {run.dtype} instead of fp32"))
    if registered and run.pack is not None and (fault := run.pack.fault(rules.packs)):
        deviations.append(Deviation("vectors", fault))
    if run.store != rules.canonical_store:
        deviations.append(Deviation("store", f"{run.store} instead of {rules.canonical_store}"))
    if run.variant:
        deviations.append(Deviation("settings", f"{run.variant} instead of the defaults"))
    if run.pipeline:
        deviations.append(Deviation("pipeline", f"{run.pipeline} instead of search alone"))
    if run.pooled:
        deviations.append(Deviation("scope", "all haystacks pooled into one"))
    if run.time == "ignored":
        deviations.append(Deviation("time", "questions also see what was said after them"))
    if run.depth != rules.mrr_depth:
        deviations.append(Deviation("depth", f"rankings are {run.depth} deep instead of {rules.mrr_depth}"))
    if run.limit is not None:
        deviations.append(Deviation("limit", f"only the first {run.limit} questions were asked"))
    if run.failures:
        count = "1 question" if run.failures == 1 else f"{run.failures} questions"
        system = "pipeline" if run.pipeline else "store"
        deviations.append(Deviation("failures", f"the {system} failed on {count}: counted as the worst answer"))
    if run.reproduction:
        deviations.append(
            Deviation("reproduction", f"{run.reproduction}, in reproduction.md: a flawed definition, never citable")
        )
    return tuple(deviations)
