"""The lists of each stage of a pipeline, by question: what it was handed, and what it handed on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from recallbench.retrieval.pipeline.trace import QuestionTrace
from recallbench.retrieval.record import Retrieval
from recallbench.retrieval.stages.stage import Kind
from recallbench.scoring.calls import judge_positions
from recallbench.scoring.measures.recall_any import RecallAny

Positions = tuple[int, ...]
"""Places in a haystack, best first."""
Against = Literal["input", "first leg", "best leg", "pipeline without it"]
"""What the work of a stage is compared with."""
LISTING: frozenset[Kind] = frozenset({"search", "fuse", "diversify", "rerank"})
"""The kinds that hand a list on."""
MOVING: frozenset[Kind] = LISTING | {"rewrite"}
"""The kinds that decide a ranking."""


@dataclass(frozen=True, slots=True, eq=False)
class StageLists:
    """One stage and its lists, each with an entry for every question."""

    stage: str
    kind: Kind
    against: Against | None
    """A stage that reorders is compared with its input, a fuse with the best leg, and a rewrite or a leg, which get no
    list, with the pipeline without it; None where the pipeline can't do without it.

    Where there is one leg, and in results that have no other leg's ranking alone, a fuse is compared with the first."""
    calls: int
    """The questions that it worked on."""
    before: Sequence[Positions | None]
    """What it is compared with; None where there is nothing, as where it did not work."""
    after: Sequence[Positions]
    """What is compared: what it handed on, and for a rewrite or a leg the ranking of the whole pipeline."""
    handed_on: Sequence[Positions] | None
    """The candidates that it handed on; None for a rewrite."""


def stage_lists(stages: Mapping[str, Kind], retrieval: Retrieval) -> list[StageLists]:
    """Return the lists of the stages that decide a ranking; `stages` has the kind of each by name, in their order."""
    return [_lists(stage, kind, stages, retrieval) for stage, kind in stages.items() if kind in MOVING]


def legs_of(stages: Mapping[str, Kind]) -> list[str]:
    """Return the names of the legs."""
    return [stage for stage, kind in stages.items() if kind == "search"]


def handed_by(stage: str, traces: Sequence[QuestionTrace]) -> list[Positions]:
    """Return what a stage handed on for each question; nothing where it did not work on it."""
    return [_handed(stage, trace) or () for trace in traces]


def left_without(stage: str, kind: Kind, stages: Mapping[str, Kind], retrieval: Retrieval) -> list[Positions | None]:
    """Return the ranking of the pipeline without a stage for each question; None where there is none."""
    depth, leg = retrieval.calls.depth, compared_leg(stages, retrieval)[0] if kind == "fuse" else ""
    first = leg in ("", legs_of(stages)[0])
    found = [trace.without.get(stage) if first else trace.alone.get(leg) for trace in retrieval.traces]
    return [None if left is None else left[:depth] for left in found]


def best_leg(legs: Sequence[str], retrieval: Retrieval) -> str:
    """Return the leg with the highest recall_any at k over all questions, of equal ones the first."""
    k = min(retrieval.calls.k, retrieval.calls.depth)
    judged = (judge_positions(retrieval, handed_by(leg, retrieval.traces), k) for leg in legs)
    return legs[int(np.argmax([RecallAny(k).values(each).sum() for each in judged]))]


def compared_leg(stages: Mapping[str, Kind], retrieval: Retrieval) -> tuple[str, Against]:
    """Return the leg that a fuse is compared with, and what it is: the best one, where each was tried alone."""
    legs = legs_of(stages)
    if any(trace.alone for trace in retrieval.traces):
        return best_leg(legs, retrieval), "best leg"
    return legs[0], "first leg"


def _lists(stage: str, kind: Kind, stages: Mapping[str, Kind], retrieval: Retrieval) -> StageLists:
    traces = retrieval.traces
    if kind in ("rewrite", "search"):
        rankings = [ranking.positions for ranking in retrieval.rankings]
        without = left_without(stage, kind, stages, retrieval)
        against: Against | None = "pipeline without it" if any(left is not None for left in without) else None
        if kind == "rewrite":
            return StageLists(stage, kind, against, sum(bool(t.handed) for t in traces), without, rankings, None)
        calls = sum(_handed(stage, trace) is not None for trace in traces)
        return StageLists(stage, kind, against, calls, without, rankings, handed_by(stage, traces))
    source, compared = _source(stage, kind, stages, retrieval)
    worked = [_handed(stage, trace) is not None for trace in traces]
    before = [_handed(source, trace) if did else None for trace, did in zip(traces, worked, strict=True)]
    after = handed_by(stage, traces)
    return StageLists(stage, kind, compared, sum(worked), before, after, after)


def _source(stage: str, kind: Kind, stages: Mapping[str, Kind], retrieval: Retrieval) -> tuple[str, Against]:
    """Return the stage whose lists this one's are compared with, and what these are to it."""
    if kind == "fuse":
        return compared_leg(stages, retrieval)
    listing = [name for name, other in stages.items() if other in LISTING]
    return listing[listing.index(stage) - 1], "input"


def _handed(stage: str, trace: QuestionTrace) -> Positions | None:
    return next((handed.positions for handed in trace.handed if handed.stage == stage), None)
