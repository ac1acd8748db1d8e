"""Published figures that were counted otherwise than the protocol counts, and how to count that way again."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from recallbench.errors import UsageError

FILE = Path(__file__).with_name("reproductions.toml")


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A figure as it was published."""

    figure: str
    """Its name in the publication."""
    measure: str
    """The measure that counts it."""
    frozen: float
    """The value in the protocol's table of baselines."""
    artefact: float
    """The value in the file of the run itself, with all its digits."""
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The way in which one corpus was measured for a publication, and the published figures."""

    name: str
    corpus: str
    store: str
    version: str
    embedder: str
    k: int
    depth: int
    pooled: bool
    gold: Mapping[str, frozenset[str]]
    """The sessions that counted as gold, for questions where they differ from those of the segments."""
    published: tuple[PublishedFigure, ...]
    definition: tuple[str, ...]
    flaws: tuple[str, ...]
    not_repeated: tuple[str, ...]
    dated: bool = True
    """Whether a segment's text begins with the line of its date, where the corpus puts one."""
    characters: int | None = None
    """The length at which a segment's text was cut."""


@cache
def reproductions() -> tuple[Reproduction, ...]:
    """Every reproduction that is registered."""
    return tuple(
        Reproduction(
            **{name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}
            | {
                "gold": {row["question"]: frozenset(row["sessions"]) for row in table["gold"]},
                "published": tuple(PublishedFigure(**row) for row in table["published"]),
            }
        )
        for table in tomllib.loads(FILE.read_text(encoding="utf-8"))["reproductions"]
    )


def find_reproduction(name: str, corpus: str) -> Reproduction:
    """The reproduction of this name on this corpus; raises UsageError where there is none."""
    for known in reproductions():
        if (known.name, known.corpus) == (name, corpus):
            return known
    named = any(known.name == name for known in reproductions())
    raise UsageError(
        f"{name} was never measured on {corpus}" if named else f"there is no reproduction {name!r}",
        expected=", ".join(f"{known.name} on {known.corpus}" for known in reproductions()),
        found=f"{name} on {corpus}",
        remedy="choose one of these, or leave out --reproduce",
    )
