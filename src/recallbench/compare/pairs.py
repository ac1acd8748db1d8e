"""Two sets of rankings, paired question by question."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from recallbench.errors import InputError, UsageError
from recallbench.reports.comparison import MeasuredPart, difference_fields
from recallbench.results.rankings import Rankings
from recallbench.scoring.judgement import Bools, Floats
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.paired import Paired, holm, paired_columns


def pair(first: Rankings, second: Rankings, measures: Sequence[Measure], *, keep: Bools | None = None) -> list[Paired]:
    """Return second minus first of each measure, over the questions that it counts (of those, the ones in `keep`).

    Raises InputError where the two were not asked the same questions, and UsageError for a measure that gives a
    single question no value of its own, or counts none of them.
    """
    same_questions(first, second)
    for measure in measures:
        if not measure.separable:
            raise UsageError(
                f"{measure} has no value for a single question, so it can't be compared in pairs",
                expected="a measure that gives each question a value",
                found=str(measure),
                remedy=f"take {str(measure).replace(measure.name, 'f1')}, which does",
            )
    paired: dict[Measure, Paired] = {}
    # Measures over the same questions are tested with the same sign flips.
    for counted, group in _by_population(first, measures):
        chosen = np.flatnonzero(counted if keep is None else counted & keep)
        if not len(chosen):
            raise UsageError(
                f"no question counts for {group[0]}",
                expected="questions that have grades" if group[0].option == "graded" else "questions with gold",
                found="none",
                remedy=f"choose another measure, such as {group[0].name}@{group[0].k}",
            )
        clusters = [first.clusters[i] for i in chosen]
        before, after = (
            np.column_stack([side.values(measure)[chosen] for measure in group]) for side in (first, second)
        )
        paired |= zip(group, paired_columns(before, after, clusters), strict=True)
    return [paired[measure] for measure in measures]


def pair_values(first: Floats, second: Floats) -> Paired:
    """Compare one measure over independent cases: the second minus the first."""
    return paired_columns(first[:, None], second[:, None])[0]


def measured_parts(
    measures: Sequence[str], pairs: Sequence[Paired], primary: Collection[str] = ()
) -> list[MeasuredPart]:
    """Return a part of the document for each pair; Holm corrects for the primary ones."""
    tested = [i for i, measure in enumerate(measures) if measure in primary]
    adjusted = dict(zip(tested, holm([pairs[i].test.p for i in tested]), strict=True))
    return [
        MeasuredPart.model_validate(
            {
                **difference_fields(measure, paired, adjusted.get(i)),
                "first": paired.first,
                "second": paired.second,
                "role": "primary" if i in adjusted else "secondary",
                "turning": list(paired.turning),
            }
        )
        for i, (measure, paired) in enumerate(zip(measures, pairs, strict=True))
    ]


def _by_population(side: Rankings, measures: Sequence[Measure]) -> list[tuple[Bools, list[Measure]]]:
    groups: dict[bytes, tuple[Bools, list[Measure]]] = {}
    for measure in measures:
        counted = side.counted(measure)
        groups.setdefault(counted.tobytes(), (counted, []))[1].append(measure)
    return list(groups.values())


def same_questions(first: Rankings, second: Rankings) -> None:
    """Raise InputError, naming the first difference, unless questions, gold, haystacks and clusters agree."""
    if len(first.questions) != len(second.questions):
        raise _other_questions(first, f"{len(first.questions)} questions", second, f"{len(second.questions)} questions")
    sizes = (side.calls[0].candidates.tolist() for side in (first, second))
    for i, (here, there, size, their_size) in enumerate(zip(first.questions, second.questions, *sizes, strict=True)):
        if here != there:
            raise _other_questions(first, f"{here} as question {i + 1}", second, f"{there} there")
        if first.gold[i] != second.gold[i]:
            raise _other_questions(
                first, f"gold {sorted(first.gold[i])} of {here}", second, f"{sorted(second.gold[i])}"
            )
        if size != their_size:
            raise _other_questions(first, f"{size} segments that may answer {here}", second, f"{their_size}")
        if first.clusters[i] != second.clusters[i]:
            raise _other_questions(
                first, f"{here} in cluster {first.clusters[i]!r}", second, f"cluster {second.clusters[i]!r}"
            )


def _other_questions(first: Rankings, expected: str, second: Rankings, found: str) -> InputError:
    return InputError(
        f"{first.origin} and {second.origin} were not asked the same questions",
        expected=f"{expected}, as in {first.origin}",
        found=f"{found}, in {second.origin}",
        remedy="measure both on the same corpus file, and leave it alone meanwhile",
    )
