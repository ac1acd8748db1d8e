"""The gold that a stage of a pipeline moved over the cut, question by question, with its places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from recallbench.retrieval.record import Retrieval
from recallbench.retrieval.stages.stage import Kind
from recallbench.scoring.stage_effects import stage_effects
from recallbench.scoring.stage_lists import Positions, handed_by, stage_lists

Way = Literal["promoted", "demoted", "lost"]
"""Into the first k, out of them, and what fusion lost of the best leg."""


@dataclass(frozen=True, slots=True)
class GoldMove:
    """One gold segment that a stage moved."""

    stage: str
    question: int
    """The number of the question among all."""
    position: int
    before: int | None
    """Its place in the list that the stage's is compared with, from 1; None where it is not in it."""
    after: int | None
    """Its place in the stage's own."""


def gold_moves(stages: Mapping[str, Kind], retrieval: Retrieval, way: Way, k: int) -> Iterator[GoldMove]:
    """Yield the gold that moved this way, stage by stage, each in the order of the questions."""
    effects = stage_effects(stages, retrieval, {}, k)
    for lists in stage_lists(stages, retrieval):
        effect = effects[lists.stage]
        before = lists.before
        if way == "lost" and effect.best_leg is not None:
            before = handed_by(effect.best_leg, retrieval.traces)
        moved = {"promoted": effect.promoted, "demoted": effect.demoted, "lost": effect.lost}[way]
        for question, positions in (moved or {}).items():
            for position in positions:
                places = (_place(position, each[question]) for each in (before, lists.after))
                yield GoldMove(lists.stage, question, position, *places)


def _place(position: int, ranking: Positions | None) -> int | None:
    return ranking.index(position) + 1 if ranking is not None and position in ranking else None
