"""The comparison of two sides: paired by question, overall and per kind, and the questions that changed most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recallbench import __version__
from recallbench.compare.pairs import measured_parts, pair, same_questions
from recallbench.compare.rules import Rule, decide, regressions
from recallbench.compare.side import Side
from recallbench.errors import InputError
from recallbench.reports.comparison import (
    LEVEL,
    ChangedPart,
    Comparison,
    HitPart,
    MeasuredPart,
    UnlikePart,
)
from recallbench.results.known_texts import KnownTexts
from recallbench.scoring.judgement import Bools, Floats
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import PRIMARY

SHOWN = 10
"""Ranks that are shown; further down only those with gold in one of the two."""


def compare(
    first: Side,
    second: Side,
    measures: Sequence[Measure],
    conditions: Sequence[Rule] = (),
    *,
    basis: Sequence[str] = (),
    unlike: Sequence[UnlikePart] = (),
    show: int = 20,
) -> Comparison:
    """Return second minus first, question by question; raises InputError where questions differ, or none has gold."""
    same_questions(first.rankings, second.rankings)
    _same_kinds(first, second)
    compared = list(dict.fromkeys([*measures, *(condition.measure for condition in conditions)]))
    counted = first.rankings.answerable
    if not counted.any():
        raise InputError(
            "no question has gold, so there is nothing to compare",
            expected="at least one question with gold",
            found=f"{len(counted)} without",
        )
    overall = _measured(first, second, compared, counted, corrected=True)
    by_measure = {part.measure: part for part in overall}

    def sliced(names: Sequence[str]) -> dict[str, list[MeasuredPart]]:
        masks = {name: np.array([label == name for label in names]) & counted for name in dict.fromkeys(names)}
        return {
            name: _measured(first, second, compared, mask, corrected=False)
            for name, mask in masks.items()
            if name and mask.any()
        }

    identical = first.rankings.hit_ids == second.rankings.hit_ids
    return Comparison(
        schema_version="1",
        recallbench_version=__version__,
        first=first.part,
        second=second.part,
        basis=list(basis),
        unlike=list(unlike),
        n=int(counted.sum()),
        clusters=None if overall[0].largest is None else overall[0].clusters,
        identical=identical,
        measures=overall,
        kinds=sliced(first.rankings.kinds),
        abilities=sliced(first.abilities),
        changed=_changed(first, second, compared, counted, show),
        conditions=[decide(condition, by_measure[str(condition.measure)]) for condition in conditions],
        regressions=regressions(overall),
        warnings=_warnings(overall),
        notes=[*first.notes, *(note for note in second.notes if note not in first.notes)],
    )


def _same_kinds(first: Side, second: Side) -> None:
    for question, kind, other in zip(
        first.rankings.questions, first.rankings.kinds, second.rankings.kinds, strict=True
    ):
        if kind != other:
            raise InputError(
                f"{first.part.name} and {second.part.name} were not asked the same questions",
                expected=f"{question} of the kind {kind!r}",
                found=f"{other!r} in {second.part.name}",
                remedy="`recallbench audit` finds which of the two differs from its dataset",
            )


def _measured(
    first: Side, second: Side, measures: Sequence[Measure], mask: Bools, *, corrected: bool
) -> list[MeasuredPart]:
    # A kind may have no question that some measure counts.
    measures = [measure for measure in measures if corrected or (first.rankings.counted(measure) & mask).any()]
    pairs = pair(first.rankings, second.rankings, measures, keep=mask)
    return measured_parts(list(map(str, measures)), pairs, list(map(str, PRIMARY)) if corrected else ())


def _warnings(measures: Sequence[MeasuredPart]) -> list[str]:
    warnings = []
    for measure in measures:
        if measure.role == "primary" and measure.turning:
            warnings.append(
                f"{measure.measure}: the sign rests on one cluster: without {_any_of(measure.turning)} the difference "
                f"is 0 or of the other sign (leaving one out gives {measure.least:+.4f} to {measure.most:+.4f})"
            )
    tests = sum(measure.role == "primary" for measure in measures)
    unreachable: dict[str, list[str]] = {}
    for measure in measures:
        if measure.role == "primary" and measure.moved and measure.smallest_p * tests > LEVEL:
            after = f", after Holm for {tests} primary measures" if tests > 1 else ""
            why = (
                f"so few {measure.unit} differ that no p of {LEVEL} or less can be reached: the smallest{after}, is "
                f"{min(1.0, measure.smallest_p * tests):.4f}"
            )
            unreachable.setdefault(why if after else why.replace(", is", " is"), []).append(measure.measure)
    return warnings + [f"{' and '.join(names)}: {why}" for why, names in unreachable.items()]


def _changed(first: Side, second: Side, measures: Sequence[Measure], counted: Bools, show: int) -> list[ChangedPart]:
    """Return the questions by the sum of their changes in the primary measures (in all, where none is compared)."""
    chosen = [measure for measure in measures if measure in PRIMARY] or list(measures)
    values = {measure: (first.rankings.values(measure), second.rankings.values(measure)) for measure in measures}
    moved: Floats = np.sum([np.abs(values[measure][1] - values[measure][0]) for measure in chosen], axis=0) * counted
    order = [int(i) for i in np.argsort(-moved, kind="stable")[:show] if moved[i] > 0]
    texts, other_texts = (side.texts(order) for side in (first, second)) if order else (KnownTexts(), KnownTexts())
    segments = {**other_texts.segments, **texts.segments}
    return [
        ChangedPart(
            question_id=first.rankings.questions[i],
            kind=first.rankings.kinds[i],
            cluster=first.rankings.clusters[i],
            question={**other_texts.questions, **texts.questions}.get(first.rankings.questions[i], ""),
            values={str(measure): (float(before[i]), float(after[i])) for measure, (before, after) in values.items()},
            gold=[first.rankings.name_of(id) for id in first.rankings.gold_ids[i]],
            first=_hits(first, i, ranks, segments),
            second=_hits(second, i, ranks, segments),
        )
        for i in order
        for ranks in [_gold_ranks(first, i) | _gold_ranks(second, i)]
    ]


def _gold_ranks(side: Side, i: int) -> set[int]:
    return {rank for rank, id in enumerate(side.rankings.hit_ids[-1][i], 1) if id in side.rankings.gold_ids[i]}


def _hits(side: Side, i: int, ranks: set[int], segments: dict[str, str]) -> list[HitPart]:
    gold = set(side.rankings.gold_ids[i])
    return [
        HitPart(rank=rank, id=side.rankings.name_of(id), gold=id in gold, text=segments.get(id, ""))
        for rank, id in enumerate(side.rankings.hit_ids[-1][i], 1)
        if rank <= SHOWN or rank in ranks
    ]


def _any_of(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"any one of {', '.join(names)}"
