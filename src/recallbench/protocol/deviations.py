"""What departs from the rules: declared once, printed everywhere."""

from __future__ import annotations

from dataclasses import dataclass

from recallbench.protocol.rules import CorpusRules, Rules

KINDS = {
    "dataset": "the corpus file is not the registered one",
    "corpus": "the corpus is not one the protocol registers",
    "embedder": "another embedder than the protocol's",
    "store": "another store than the protocol's",
    "scope": "questions are not answered from their own haystack alone",
    "depth": "rankings are not 50 deep",
    "limit": "only part of the questions was asked",
    "settings": "session settings differ from the protocol's",
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
        """What HISTORY.md calls it: `embedder minilm` for a substitution, else the kind alone."""
        return f"{self.kind} {self.detail.split()[0]}" if self.kind in SUBSTITUTIONS else self.kind

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Configuration:
    """What of a run can depart from the protocol."""

    sha256: str
    """Of the corpus file."""
    store: str
    variant: str
    """Settings of the store that are not its defaults, in words; empty where there are none."""
    embedder: str
    """Empty where the store needs none."""
    pooled: bool
    depth: int
    limit: int | None
    reproduction: str = ""
    """The published baseline that was measured again beside the result; empty where none was."""
    failures: int = 0
    """Questions that the store failed on, in a run that kept going."""


def departures(made: Configuration, corpus: CorpusRules, rules: Rules) -> tuple[Deviation, ...]:
    """Everything in which a run departs from the protocol; a result is labelled by this, and audited by it."""
    registered = corpus.name in rules.corpora
    found = []
    if not registered:
        found.append(Deviation("corpus", f"{corpus.name} is no registered corpus"))
    if made.sha256 != corpus.sha256:
        found.append(Deviation("dataset", f"{made.sha256} instead of the registered {corpus.sha256}"))
    if registered and made.embedder != corpus.embedder:
        found.append(Deviation("embedder", f"{made.embedder or 'none'} instead of {corpus.embedder}"))
    if made.store != rules.canonical_store:
        found.append(Deviation("store", f"{made.store} instead of {rules.canonical_store}"))
    if made.variant:
        found.append(Deviation("settings", f"{made.variant} instead of the defaults"))
    if made.pooled:
        found.append(Deviation("scope", "all haystacks pooled into one"))
    if made.depth != rules.mrr_depth:
        found.append(Deviation("depth", f"rankings are {made.depth} deep instead of {rules.mrr_depth}"))
    if made.limit is not None:
        found.append(Deviation("limit", f"only the first {made.limit} questions were asked"))
    if made.failures:
        told = "1 question" if made.failures == 1 else f"{made.failures} questions"
        found.append(Deviation("failures", f"the store failed on {told}: counted as the worst answer"))
    if made.reproduction:
        found.append(
            Deviation("reproduction", f"{made.reproduction}, in reproduction.md: a flawed definition, never citable")
        )
    return tuple(found)
