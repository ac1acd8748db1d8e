"""One report against another of the same cases: whether what was changed in between helped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recallbench.cases.case import Case
from recallbench.cases.params import differing
from recallbench.cases.scores import CaseScores
from recallbench.compare.pairs import measured_parts, pair_values
from recallbench.compare.rules import change_word
from recallbench.errors import InputError, UsageError
from recallbench.reports.cells import figure
from recallbench.reports.comparison import (
    DIFFERENCE_HEADER,
    DifferencePart,
    MeasuredPart,
    difference_cells,
    signed,
    signed_range,
)
from recallbench.reports.display import Display
from recallbench.reports.plot import Plot
from recallbench.reports.table import Part, Table
from recallbench.scoring.judgement import Floats
from recallbench.scoring.measures.measure import Measure


@dataclass(frozen=True, slots=True, repr=False)
class Change(Display):
    """After minus before, measure by measure, case by case."""

    parts: tuple[MeasuredPart, ...]
    matching: str
    params: Mapping[str, tuple[str, str]]
    """The parameters that differ: each value before and after."""

    @property
    def before(self) -> tuple[float, ...]:
        """Return the means before, measure by measure."""
        return tuple(part.first for part in self.parts)

    @property
    def after(self) -> tuple[float, ...]:
        """Return the means after, measure by measure."""
        return tuple(part.second for part in self.parts)

    def displayed(self) -> list[Part | Plot]:
        """Return the table and its sentences."""
        return [self.table(), *self.sentences()]

    def table(self) -> Table:
        """Return a row for each measure."""
        rows = [(part.measure, figure(part.first), figure(part.second), *difference_cells(part)) for part in self.parts]
        return Table(("measure", "before", "after", *DIFFERENCE_HEADER), rows, left=("measure",))

    def sentences(self) -> list[str]:
        """Sum up the change: a sentence a measure, and how to read them."""
        tests = " or ".join(sorted({part.test for part in self.parts if part.moved})) or "cases that do not differ"
        return [
            *self.params_in_words(),
            *(f"{part.measure}: {change_word(part)}, {_numbers(part)}" for part in self.parts),
            f"paired over {self.parts[0].n} cases, matching: {self.matching}; p is two-sided, from {tests}; "
            f"Holm corrects for the {len(self.parts)} measures",
        ]

    def params_in_words(self) -> list[str]:
        """Return a sentence on the parameters that differ, if any do."""
        moved = "; ".join(f"{name} {before} before, {after} after" for name, (before, after) in self.params.items())
        return [f"params: {moved}"] if moved else []

    def document(self) -> dict[str, Any]:
        """Return the document for machines."""
        return {
            "matching": self.matching,
            **({"params": {name: list(pair) for name, pair in self.params.items()}} if self.params else {}),
            "measures": [
                {
                    **part.model_dump(include=set(DifferencePart.model_fields)),
                    "before": part.first,
                    "after": part.second,
                    "verdict": change_word(part),
                }
                for part in self.parts
            ],
        }


def change(before: CaseScores, after: CaseScores) -> Change:
    """Return after minus before; raises where the two can't be compared."""
    if before.matching != after.matching:
        raise UsageError(
            "numbers that were matched in different ways can't be compared",
            expected=f"matching: {before.matching}, as before",
            found=f"matching: {after.matching}",
            remedy="match both alike",
        )
    if before.columns != after.columns and before.k == after.k:
        raise UsageError(
            "numbers of different definitions can't be compared",
            expected=f"definitions: {str(before.definitions) or 'the usual ones'}, as before",
            found=f"definitions: {str(after.definitions) or 'the usual ones'}",
            remedy="define both alike",
        )
    if before.k != after.k:
        raise UsageError("the two were scored at another k", expected=f"k = {before.k}", found=f"k = {after.k}")
    _same_cases(before.cases, after.cases)
    if not before.n:
        raise UsageError("no case has anything to find", expected="one case with something relevant", found="none")
    # Where no case has what a measure counts there is nothing to compare.
    measures = [column for column in before.columns if column.counted(before.judged).any()]
    pairs = [pair_values(*_values(before, after, measure)) for measure in measures]
    names = [str(measure) for measure in measures]
    return Change(
        tuple(measured_parts(names, pairs, names)), str(before.matching), differing(before.params, after.params)
    )


def _values(before: CaseScores, after: CaseScores, measure: Measure) -> tuple[Floats, Floats]:
    """Return the values of the cases that the measure counts, which are the same before and after."""
    counted = measure.counted(before.judged)
    return measure.values(before.judged)[counted], measure.values(after.judged)[counted]


def _same_cases(before: Sequence[Case], after: Sequence[Case]) -> None:
    if len(before) != len(after):
        raise InputError(
            "the two have other cases", expected=f"{len(before)} cases, as before", found=f"{len(after)} cases"
        )
    for old_case, new_case in zip(before, after, strict=True):
        if _facts(old_case) != _facts(new_case):
            raise new_case.wrong(
                "not the case it was before", f"{old_case.name!r}, with what was relevant then", "another one"
            )


def _facts(case: Case) -> tuple[Any, ...]:
    grades = None if case.grades is None else dict(case.grades)
    return case.name, case.query, frozenset(case.relevant), grades, case.expected, case.kind


def _numbers(part: DifferencePart) -> str:
    interval = "no interval" if part.low is None else f"95% {signed_range(part.low, part.high)}"
    counts = f"{part.wins} better, {part.losses} worse"
    return f"{signed(part.difference)} ({interval}), {counts}, corrected p {part.corrected_p:.4f}"
