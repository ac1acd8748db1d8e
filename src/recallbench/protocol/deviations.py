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


@dataclass(frozen=True, slots=True)
class Deviation:
    """One departure from the protocol; `kind` is one of KINDS."""

    kind: str
    detail: str

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown deviation {self.kind!r}")
