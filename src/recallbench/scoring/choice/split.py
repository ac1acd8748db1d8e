"""The questions that a sweep chooses by, and those held out, which say what the choice is worth."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.choice.points import Support, question_units, support
from recallbench.scoring.intervals import SEED
from recallbench.scoring.judgement import Bools
from recallbench.scoring.strata import allocate

TUNING = 0.6
"""Of ten clusters six: the fewest whose sign flips can tell two points apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Which questions are for tuning, and which are held out; none is both."""

    tuning: Bools
    """(questions,)"""
    unit: str
    """"cluster" where whole clusters were drawn, else "question", in proportion to their kinds."""
    tuning_units: int
    held_out_units: int
    seed: int
    support: Support
    """How many points the tuning part can support."""

    @property
    def held_out(self) -> Bools:
        """(questions,)"""
        return ~self.tuning


def split_questions(
    questions: Sequence[str],
    clusters: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    share: float = TUNING,
    seed: int = SEED,
) -> Split:
    """Split questions, given by their ids, so that this share of the clusters is for tuning; both parts get one.

    The order is that of a hash of seed and name, so a split does not depend on the order of the questions. Without
    clusters, questions are drawn by kind, in proportion.
    """
    if len(set(questions)) != len(questions):
        raise ValueError("two questions have the same id")
    groups, unit = question_units(len(questions), clusters)
    # A unit is known by its cluster, else by its question: whichever of its questions comes first says so.
    first = np.unique(groups, return_index=True)[1].tolist()
    names = [(clusters[i] if clusters is not None else "") or questions[i] for i in first]
    strata: dict[str, list[int]] = {}
    for unit_number, i in enumerate(first):
        strata.setdefault(kinds[i] if kinds is not None and unit == "question" else "", []).append(unit_number)
    if len(names) < 2:
        raise ValueError(f"{len(names)} {unit} can't be split")
    wanted = min(len(names) - 1, max(1, round(share * len(names))))
    sizes = {kind: len(members) for kind, members in strata.items()}
    # Too few for one of each kind: drawn from all alike.
    if wanted < len(sizes):
        strata, sizes = {"": list(range(len(names)))}, {"": len(names)}
    counts = allocate(wanted, sizes, sizes)
    chosen = np.zeros(len(names), dtype=np.bool_)
    for kind, members in strata.items():
        ordered = sorted(members, key=lambda number: _draw(seed, names[number]))
        chosen[ordered[: counts[kind]]] = True
    return Split(chosen[groups], unit, wanted, len(names) - wanted, seed, support(wanted, unit))


def _draw(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}/{name}".encode()).digest()
