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


def pair(one: Rankings, other: Rankings, measures: Sequence[Measure], *, keep: Bools | None = None) -> list[Paired]:
    """Each measure, the other minus the one, over the questions that it counts (of those, the ones in `keep`).

    Raises InputError where the two were not asked the same questions, and UsageError for a measure that gives a
    single question no value of its own, or counts none of them.
    """
    same_questions(one, other)
    for measure in measures:
        if not measure.separable:
            raise UsageError(
                f"{measure} belongs to a set of questions, not to one, so it can't be compared in pairs",
                expected="a measure that gives each question a value",
                found=str(measure),
                remedy=f"{str(measure).replace(measure.name, 'f1')} does",
            )
    paired: dict[Measure, Paired] = {}
    # Those over the same questions together: their signs are flipped alike.
    for counted, alike in _by_population(one, measures):
        chosen = np.flatnonzero(counted if keep is None else counted & keep)
        if not len(chosen):
            raise UsageError(
                f"no question has what {alike[0]} counts",
                expected="questions that have grades" if alike[0].option == "graded" else "questions with gold",
                found="none",
                remedy=f"choose another measure, as {alike[0].name}@{alike[0].k}",
            )
        clusters = [one.clusters[i] for i in chosen]
        first, second = (np.column_stack([side.values(measure)[chosen] for measure in alike]) for side in (one, other))
        paired |= zip(alike, paired_columns(first, second, clusters), strict=True)
    return [paired[measure] for measure in measures]


def pair_values(first: Floats, second: Floats) -> Paired:
    """Compare one measure over independent cases: the second minus the first."""
    return paired_columns(first[:, None], second[:, None])[0]


def measured_parts(
    measures: Sequence[str], pairs: Sequence[Paired], primary: Collection[str] = ()
) -> list[MeasuredPart]:
    """What is written of each pair; Holm corrects for the primary ones."""
    tested = [i for i, measure in enumerate(measures) if measure in primary]
    adjusted = dict(zip(tested, holm([pairs[i].test.p for i in tested]), strict=True))
    return [
        MeasuredPart.model_validate(
            {
                **difference_fields(measure, found, adjusted.get(i)),
                "first": found.first,
                "second": found.second,
                "role": "primary" if i in adjusted else "secondary",
                "turning": list(found.turning),
            }
        )
        for i, (measure, found) in enumerate(zip(measures, pairs, strict=True))
    ]


def _by_population(side: Rankings, measures: Sequence[Measure]) -> list[tuple[Bools, list[Measure]]]:
    groups: dict[bytes, tuple[Bools, list[Measure]]] = {}
    for measure in measures:
        counted = side.counted(measure)
        groups.setdefault(counted.tobytes(), (counted, []))[1].append(measure)
    return list(groups.values())


def same_questions(one: Rankings, other: Rankings) -> None:
    """Raises InputError, naming the first that differs, unless questions, gold, haystacks and clusters agree."""
    if len(one.questions) != len(other.questions):
        raise _other_questions(one, f"{len(one.questions)} questions", other, f"{len(other.questions)} questions")
    sizes = (side.calls[0].candidates.tolist() for side in (one, other))
    for i, (here, there, size, their_size) in enumerate(zip(one.questions, other.questions, *sizes, strict=True)):
        if here != there:
            raise _other_questions(one, f"{here} as question {i + 1}", other, f"{there} there")
        if one.gold[i] != other.gold[i]:
            raise _other_questions(one, f"gold {sorted(one.gold[i])} of {here}", other, f"{sorted(other.gold[i])}")
        if size != their_size:
            raise _other_questions(one, f"{size} segments that may answer {here}", other, f"{their_size}")
        if one.clusters[i] != other.clusters[i]:
            raise _other_questions(
                one, f"{here} in cluster {one.clusters[i]!r}", other, f"cluster {other.clusters[i]!r}"
            )


def _other_questions(one: Rankings, expected: str, other: Rankings, found: str) -> InputError:
    return InputError(
        f"{one.place} and {other.place} were not asked the same questions",
        expected=f"{expected}, as in {one.place}",
        found=f"{found}, in {other.place}",
        remedy="measure both on the same corpus file, and leave it alone meanwhile",
    )
