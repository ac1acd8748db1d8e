"""What a stage of a pipeline is worth: the gold that it moved, what it left possible, and the pipeline without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.retrieval.record import Retrieval
from recallbench.retrieval.stages.stage import Kind
from recallbench.scoring.calls import clusters_of, judge_positions
from recallbench.scoring.judgement import Bools, Floats
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.recall_any import RecallAny
from recallbench.scoring.measures.recall_frac import RecallFrac
from recallbench.scoring.measures.registry import PRIMARY
from recallbench.scoring.paired import Paired, paired_columns
from recallbench.scoring.stage_lists import (
    Positions,
    StageLists,
    best_leg,
    handed_by,
    left_without,
    legs_of,
    stage_lists,
)

GoldByQuestion = Mapping[int, Positions]
"""By the number of a question, the positions of gold segments in ascending order; only questions that have some."""


@dataclass(frozen=True, slots=True)
class MeasuredDifference:
    """A measure of the pipeline against the same pipeline without one of its stages."""

    measure: Measure
    paired: Paired
    """The pipeline minus the one without."""


@dataclass(frozen=True, slots=True)
class StageEffects:
    """What one stage is worth, over all questions with gold."""

    stage: str
    promoted: GoldByQuestion | None
    """Gold that it brought into the first k, against what it is compared with; None where that is nothing."""
    demoted: GoldByQuestion | None
    """Gold that it put out of the first k."""
    reached: Mapping[Measure, float] | None
    """What the list that it handed on reaches as it stands; None for a rewrite, which hands none on."""
    pool: Mapping[Measure, float] | None
    """What the best order of the candidates that it handed on would reach."""
    best_leg: str | None
    """The leg with the highest recall_any@k, for a fuse."""
    lost: GoldByQuestion | None
    """Gold that the best leg had among its first k, and the fused list has not."""
    differences: Mapping[str, Sequence[MeasuredDifference]]
    """By slice, against the pipeline without it, over the questions for which that is known; empty where none is."""
    again: bool
    """Whether the pipeline without it had to be run, in part; else all that it needed was kept."""


def stage_effects(
    stages: Mapping[str, Kind], retrieval: Retrieval, slices: Mapping[str, Bools], k: int
) -> dict[str, StageEffects]:
    """Return the effects of each stage that decides a ranking, by its name; `slices` are masks over the questions."""
    with_all = [ranking.positions for ranking in retrieval.rankings]
    legs = legs_of(stages)
    best = best_leg(legs, retrieval) if len(legs) > 1 else None
    return {
        lists.stage: _effects(
            lists, retrieval, slices, k, with_all, best, left_without(lists.stage, lists.kind, stages, retrieval)
        )
        for lists in stage_lists(stages, retrieval)
    }


def _effects(
    lists: StageLists,
    retrieval: Retrieval,
    slices: Mapping[str, Bools],
    k: int,
    with_all: Sequence[Positions],
    best: str | None,
    without: Sequence[Positions | None],
) -> StageEffects:
    stage, traces = lists.stage, retrieval.traces
    of_best = None
    if lists.kind == "fuse" and best is not None:
        own = zip(lists.before, handed_by(best, traces), strict=True)
        of_best = [None if before is None else positions for before, positions in own]
    return StageEffects(
        stage=stage,
        promoted=None if lists.against is None else _gold_only_in(lists.after, lists.before, retrieval, k),
        demoted=None if lists.against is None else _gold_only_in(lists.before, lists.after, retrieval, k),
        reached=None if lists.handed_on is None else _means(retrieval, lists.handed_on, k),
        pool=None if lists.handed_on is None else _means(retrieval, _best_order(retrieval, lists.handed_on), k),
        best_leg=None if of_best is None else best,
        lost=None if of_best is None else _gold_only_in(of_best, lists.after, retrieval, k),
        differences=_differences(retrieval, without, with_all, slices),
        again=any(stage in trace.again for trace in traces),
    )


def _gold_only_in(
    lists: Sequence[Positions | None], others: Sequence[Positions | None], retrieval: Retrieval, k: int
) -> dict[int, Positions]:
    """Return the gold that is among the first k of a list and not of the other, for questions that have both."""
    found = {}
    for number, (question, here, there) in enumerate(zip(retrieval.questions, lists, others, strict=True)):
        if here is None or there is None:
            continue
        if gold := question.gold.intersection(here[:k]).difference(there[:k]):
            found[number] = tuple(sorted(gold))
    return found


def _best_order(retrieval: Retrieval, lists: Sequence[Positions]) -> list[Positions]:
    """Return the same candidates with all gold before the rest."""
    return [
        (*gold, *(position for position in positions if position not in gold))
        for question, positions in zip(retrieval.questions, lists, strict=True)
        for gold in [question.gold.intersection(positions)]
    ]


def _means(retrieval: Retrieval, lists: Sequence[Positions], k: int) -> dict[Measure, float]:
    judged = judge_positions(retrieval, lists, k)
    measures: tuple[Measure, ...] = (RecallAny(k), RecallFrac(k))
    return {
        measure: float(measure.values(judged)[counted].mean())
        for measure in measures
        if (counted := measure.counted(judged)).any()
    }


def _differences(
    retrieval: Retrieval,
    without: Sequence[Positions | None],
    with_all: Sequence[Positions],
    slices: Mapping[str, Bools],
) -> dict[str, list[MeasuredDifference]]:
    measures = [measure for measure in PRIMARY if measure.k <= retrieval.calls.depth]
    known: Bools = np.array([left is not None for left in without], dtype=np.bool_)
    if not measures or not known.any():
        return {}
    before, after = (
        np.column_stack([_values(measure, retrieval, [found or () for found in lists]) for measure in measures])
        for lists in (without, with_all)
    )
    counted = known & np.array([bool(question.gold) for question in retrieval.questions])
    clusters = clusters_of(retrieval.questions)
    differences = {}
    for name, mask in slices.items():
        if (chosen := np.flatnonzero(mask & counted)).size:
            of_slice = None if clusters is None else [clusters[i] for i in chosen.tolist()]
            pairs = paired_columns(before[chosen], after[chosen], of_slice)
            differences[name] = list(map(MeasuredDifference, measures, pairs))
    return differences


def _values(measure: Measure, retrieval: Retrieval, positions: Sequence[Positions]) -> Floats:
    return measure.values(judge_positions(retrieval, positions, measure.k))
