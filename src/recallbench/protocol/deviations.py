"""What departs from the rules: declared once, printed everywhere."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = {
    "dataset": "the corpus file is not the registered one",
    "corpus": "the corpus is not one the protocol registers",
    "embedder": "another embedder than the protocol's",
    "store": "another store than the protocol's",
    "scope": "questions are not answered from their own haystack alone",
    "depth": "rankings are not 50 deep",
    "limit": "only part of the questions was asked",
    "settings": "session settings differ from the protocol's",
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
