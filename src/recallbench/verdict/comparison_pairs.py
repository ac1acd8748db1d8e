"""Two sets of rankings, paired question by question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recallbench.errors import InputError, UsageError
from recallbench.results.rankings import Rankings
from recallbench.scoring.judgement import Bools
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.paired import Paired, paired_columns


def by_question(
    one: Rankings, other: Rankings, measures: Sequence[Measure], *, clustered: bool, keep: Bools | None = None
) -> list[Paired]:
    """Each measure, the other minus the one, over the questions with gold (of those, the ones in `keep`).

    Raises InputError where the two were not asked the same questions, and UsageError for a measure that gives a
    single question no value of its own.
    """
    same_questions(one, other)
    for measure in measures:
        if not measure.separable:
            raise UsageError(
                f"{measure} belongs to a set of questions, not to one, so it can't be compared in pairs",
                expected="a measure that gives each question a value",
                found=str(measure),
                remedy=f"f1@{measure.k} does",
            )
    # A question without gold is in no mean.
    with_gold = one.calls[0].gold > 0
    counted = np.flatnonzero(with_gold if keep is None else with_gold & keep)
    clusters = [one.clusters[i] for i in counted] if clustered else None
    first, second = (np.column_stack([side.values(measure)[counted] for measure in measures]) for side in (one, other))
    return paired_columns(first, second, clusters)


def same_questions(one: Rankings, other: Rankings) -> None:
    """Raises InputError, naming the first that differs, unless questions, gold, haystacks and clusters agree."""
    if len(one.questions) != len(other.questions):
        raise _unlike(one, f"{len(one.questions)} questions", other, f"{len(other.questions)} questions")
    sizes = (side.calls[0].candidates.tolist() for side in (one, other))
    for i, (here, there, size, their_size) in enumerate(zip(one.questions, other.questions, *sizes, strict=True)):
        if here != there:
            raise _unlike(one, f"{here} as question {i + 1}", other, f"{there} there")
        if one.gold[i] != other.gold[i]:
            raise _unlike(one, f"gold {sorted(one.gold[i])} of {here}", other, f"{sorted(other.gold[i])}")
        if size != their_size:
            raise _unlike(one, f"{size} segments that may answer {here}", other, f"{their_size}")
        if one.clusters[i] != other.clusters[i]:
            raise _unlike(one, f"{here} in cluster {one.clusters[i]!r}", other, f"cluster {other.clusters[i]!r}")


def _unlike(one: Rankings, expected: str, other: Rankings, found: str) -> InputError:
    return InputError(
        f"{one.place} and {other.place} were not asked the same questions",
        expected=f"{expected}, as in {one.place}",
        found=f"{found}, in {other.place}",
        remedy="measure both on the same corpus file, and leave it alone meanwhile",
    )
