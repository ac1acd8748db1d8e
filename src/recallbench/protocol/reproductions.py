"""Published figures whose way of counting can be gone again, though it is not the protocol's."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from recallbench.errors import UsageError

FILE = Path(__file__).with_name("reproductions.toml")


@dataclass(frozen=True, slots=True)
class Published:
    """One figure as it was published."""

    figure: str
    """What it was called."""
    measure: str
    """What it counts."""
    frozen: float
    """As the protocol's table of baselines has it."""
    artefact: float
    """With the digits of the run's own file."""
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Reproduction:
    """How one corpus was measured, and what came out."""

    name: str
    corpus: str
    store: str
    version: str
    embedder: str
    k: int
    depth: int
    pooled: bool
    gold: Mapping[str, frozenset[str]]
    """Sessions that counted as gold, of the questions where these are not the sessions of the segments."""
    published: tuple[Published, ...]
    definition: tuple[str, ...]
    flaws: tuple[str, ...]
    not_repeated: tuple[str, ...]
    dated: bool = True
    """Whether a segment's text begins with the line of its date, where the corpus puts one."""
    characters: int | None = None
    """Where a segment's text was cut."""


@cache
def reproductions() -> tuple[Reproduction, ...]:
    """All that are known."""
    return tuple(
        Reproduction(
            **{name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}
            | {
                "gold": {row["question"]: frozenset(row["sessions"]) for row in table["gold"]},
                "published": tuple(Published(**row) for row in table["published"]),
            }
        )
        for table in tomllib.loads(FILE.read_text(encoding="utf-8"))["reproductions"]
    )


def find_reproduction(name: str, corpus: str) -> Reproduction:
    """The one of this name on this corpus."""
    for one in reproductions():
        if (one.name, one.corpus) == (name, corpus):
            return one
    named = any(one.name == name for one in reproductions())
    raise UsageError(
        f"{name} was never measured on {corpus}" if named else f"there is no reproduction {name!r}",
        expected=", ".join(f"{one.name} on {one.corpus}" for one in reproductions()),
        found=f"{name} on {corpus}",
        remedy="choose one of these, or leave out --reproduce",
    )
