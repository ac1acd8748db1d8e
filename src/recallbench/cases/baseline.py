"""The values of each case, kept in a file: a later report is compared with it case by case.

`compare.rules` says which falls fail, are inconclusive, or pass.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, ValidationError

from recallbench.cases.change import Change
from recallbench.cases.params import differing
from recallbench.cases.scores import CaseScores
from recallbench.compare.pairs import measured_parts, pair_values
from recallbench.compare.rules import Rule, Ruling, above_zero, decide_by_case, exit_code, rule_on
from recallbench.confidential import concealed
from recallbench.errors import InputError, RecallBenchError, UsageError
from recallbench.reading import document
from recallbench.reports.comparison import (
    ConditionPart,
    DifferencePart,
    signed,
    signed_range,
)
from recallbench.reports.part import DocumentPart
from recallbench.scoring.judgement import Floats
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import parse
from recallbench.whole_file import write_whole

DIGITS = 10
"""Decimals that are stored: the last ones may differ from one processor to the next."""


class BaselineCase(DocumentPart):
    case: str
    sha256: str = Field(description="of the query and all that was relevant")
    values: list[float | None] = Field(
        description="in the order of `measures`, null for one that does not count the case; empty where nothing is to "
        "be found"
    )


class Baseline(DocumentPart):
    """The file: one case a line, so that a changed one is a changed line."""

    schema_version: str
    k: int
    depth: int
    matching: str
    measures: list[str]
    params: dict[str, str | int | float | bool] = Field(
        default={},
        # Left out where empty, so that files have the bytes of earlier releases.
        exclude_if=lambda params: not params,
        description="what the retriever was run with",
    )
    cases: list[BaselineCase]


class Regressed(RecallBenchError, AssertionError):
    """The failure of a test whose report is below its baseline."""

    exit_code = 1

    def __str__(self) -> str:
        return self.problem if not self.remedy else f"{self.problem}\n  what to do: {self.remedy}"


def baseline_of(report: CaseScores, more: Sequence[Measure] = ()) -> Baseline:
    """Return the figures of a report by case: the four of its table, and `more`."""
    measures = _all_measures(report, more)
    columns = [np.where(measure.counted(report.judged), measure.values(report.judged), np.nan) for measure in measures]
    values = np.column_stack(columns)
    counted = (report.judged.gold > 0).tolist()
    return Baseline(
        schema_version="1",
        k=report.k,
        depth=report.judged.depth,
        matching=str(report.matching),
        measures=[str(measure) for measure in measures],
        params=dict(report.params),
        cases=[
            BaselineCase(
                case=case.name,
                sha256=case.sha256,
                values=[None if np.isnan(value) else round(float(value), DIGITS) for value in row] if has_gold else [],
            )
            for case, row, has_gold in zip(report.cases, values, counted, strict=True)
        ],
    )


def write(baseline: Baseline, path: Path) -> bool:
    """Write the baseline, whole or not at all; return False where the same was there already."""
    head = baseline.model_dump(exclude={"cases"})
    cases = ",\n".join(f"  {json.dumps(case.model_dump(), ensure_ascii=False)}" for case in baseline.cases)
    text = f'{json.dumps(head, indent=1)[:-2]},\n "cases": [\n{cases}\n ]\n}}\n'
    if path.is_file() and path.read_bytes() == text.encode():
        return False
    write_whole(path, concealed(text))
    return True


def read(path: Path) -> Baseline:
    """Return the baseline of a file; raises InputError for any other file."""
    try:
        return Baseline.model_validate_json(document(path))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputError(
            f"{path} is not a baseline",
            expected="the file that --recallbench-update writes",
            found=f"{'.'.join(map(str, first['loc'])) or 'the file'}: {first['msg']}",
            remedy="get it again from version control, or store it anew with --recallbench-update",
        ) from None


@dataclass(frozen=True, slots=True, repr=False)
class BaselineChange(Change):
    """A report minus its baseline, ruled on measure by measure."""

    rulings: tuple[Ruling, ...]
    """One for each measure, as if no drops were named."""
    inconclusive: tuple[str, ...]
    """A sentence for each measure that these cases can't decide."""

    def sentences(self) -> list[str]:
        """Sum up the change: a sentence a measure, worded by the rule, and how to read them."""
        reading = Change.sentences(self)[-1]
        lines = [
            f"{part.measure}: {ruling.word}, {_numbers(part)}"
            for part, ruling in zip(self.parts, self.rulings, strict=True)
        ]
        return [*self.params_in_words(), *lines, reading]

    def document(self) -> dict[str, Any]:
        """Return the document for machines."""
        document = Change.document(self)
        for measure, ruling in zip(document["measures"], self.rulings, strict=True):
            measure |= {"verdict": ruling.word, "outcome": ruling.outcome}
        return document


def compare(report: CaseScores, before: Baseline, drops: Mapping[str, float] | None, *, strict: bool) -> BaselineChange:
    """Return the report minus its baseline; raises Regressed where it fell, by `compare.rules`.

    With `strict`, also where the cases are too few to decide.
    """
    __tracebackhide__ = True
    conditions = conditions_of(report, drops)
    now = baseline_of(report, [condition.measure for condition in conditions])
    _refuse_other_cases(before, now)
    names = [name for name in now.measures if name in before.measures]
    # A measure of another definition is held to nothing: better said than passed over.
    lacking = [
        str(measure)
        for measure in _all_measures(report, [condition.measure for condition in conditions])
        if str(measure) not in names
    ]
    if lacking:
        raise UsageError(
            f"the baseline has no {lacking[0]}",
            expected=", ".join(before.measures),
            found=lacking[0],
            remedy="store it anew with --recallbench-update",
        )
    pairs = {name: (_values(before, name), _values(now, name)) for name in names}
    # Where no case has what a measure counts there is nothing to hold it to.
    names = [name for name in names if len(pairs[name][0])]
    for condition in conditions:
        if str(condition.measure) not in names:
            raise UsageError(
                f"no case has what {condition.measure} counts", expected="a case that has grades", found="none"
            )
    columns = [pairs[name] for name in names]
    shown = {str(column) for column in report.columns}
    primary = [i for i, name in enumerate(names) if name in shown]
    parts = tuple(measured_parts(names, [pair_values(*column) for column in columns], shown))
    rulings = tuple(
        rule_on(part, len(primary) if i in primary else 0, int(above_zero(*columns[i]).sum()))
        for i, part in enumerate(parts)
    )
    places = [names.index(str(condition.measure)) for condition in conditions]
    decided = [
        decide_by_case(condition, parts[i], *columns[i]) for condition, i in zip(conditions, places, strict=True)
    ]
    fallen = [parts[i].measure for i in primary if rulings[i].outcome == "fails"]
    if conditions:
        open_ = [
            f"{part.condition}: {part.reason} ({_moved(parts[i])})"
            for part, i in zip(decided, places, strict=True)
            if part.outcome == "inconclusive"
        ]
    else:
        open_ = [
            f"{parts[i].measure}: {_moved(parts[i])}; 95% {signed_range(parts[i].low, parts[i].high)}"
            for i in primary
            if rulings[i].outcome == "inconclusive"
        ]
    change = BaselineChange(parts, now.matching, differing(before.params, now.params), rulings, tuple(open_))
    if exit_code(decided, fallen, strict=strict) or (strict and open_):
        raise Regressed(_explain(change, decided, fallen), remedy="mend it, or accept it with --recallbench-update")
    return change


def conditions_of(report: CaseScores, drops: Mapping[str, float] | None) -> list[Rule]:
    """Return the drops that must not be; raises UsageError for a share that is none, or a measure that no case has."""
    conditions = []
    for name, share in (drops or {}).items():
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
            raise UsageError(f"a drop of {name}", expected="a share above 0 and at most 1", found=repr(share))
        measure = _named(report, name)
        if not measure.separable:
            raise UsageError(f"{measure} can't be compared case by case", expected="a measure that each case has")
        conditions.append(Rule(measure, "drops", float(share)))
    return conditions


def _named(report: CaseScores, name: str) -> Measure:
    short = {measure.name: measure for measure in report.measures} | {"recall": report.columns[0]}
    return short[name] if name in short else parse(name)


def _all_measures(report: CaseScores, more: Sequence[Measure]) -> list[Measure]:
    return list(dict.fromkeys([*report.columns, *more]))


def _refuse_other_cases(before: Baseline, now: Baseline) -> None:
    """Raise InputError, with the first difference, unless both are of the same cases, scored alike."""
    for what in ("k", "matching"):
        if getattr(before, what) != getattr(now, what):
            raise _other_cases(f"{what} {getattr(before, what)}", f"{what} {getattr(now, what)}")
    old, new = ({case.case: case.sha256 for case in side.cases} for side in (before, now))
    for name in old.keys() - new.keys():
        raise _other_cases(f"the case {name!r}", "none of that name")
    for name in new.keys() - old.keys():
        raise _other_cases("no other cases", f"a new case {name!r}")
    for name in (measure for measure in now.measures if measure in before.measures):
        counts = [len(_values(side, name)) for side in (before, now)]
        if counts[0] != counts[1]:
            raise _other_cases(f"{counts[0]} cases with {name}", f"{counts[1]}")
    for old_case, new_case in zip(before.cases, now.cases, strict=True):
        if old_case.case != new_case.case:
            raise _other_cases(f"the case {old_case.case!r} at its place", f"{new_case.case!r}")
        if old_case.sha256 != new_case.sha256:
            raise _other_cases(
                f"the case {old_case.case!r} with what was relevant then", "another query or other relevant ids"
            )
    if not any(case.values for case in now.cases):
        raise _other_cases("a case with something to find", "none")


def _other_cases(expected: str, found: str) -> InputError:
    return InputError(
        "the baseline is of other cases",
        expected=f"{expected}, as in the baseline",
        found=found,
        remedy="if that is meant, store the baseline anew with --recallbench-update",
    )


def _values(side: Baseline, name: str) -> Floats:
    """Return the values of the cases that the measure counts."""
    column = side.measures.index(name)
    values = [case.values[column] for case in side.cases if case.values]
    return np.array([value for value in values if value is not None], dtype=np.float64)


def _moved(part: DifferencePart) -> str:
    return f"{signed(part.difference)} over {part.n} {'case' if part.n == 1 else 'cases'}"


def _numbers(part: DifferencePart) -> str:
    interval = "no interval" if part.low is None else f"95% {signed_range(part.low, part.high)}"
    p = "" if part.p_holm is None else f", corrected p {part.p_holm:.4f}"
    return f"{signed(part.difference)} ({interval}), {part.wins} better, {part.losses} worse of {part.n}{p}"


def _explain(change: BaselineChange, decided: Sequence[ConditionPart], fallen: Sequence[str]) -> str:
    lines = [f"  fails: {part.condition}: {part.reason}" for part in decided if part.outcome == "fails"]
    if not decided:
        ruled = zip(change.parts, change.rulings, strict=True)
        lines += [f"  {part.measure} fell: {ruling.why}" for part, ruling in ruled if part.measure in fallen]
    head = "below the baseline:" if lines else "so few cases can't tell whether this is below the baseline:"
    lines += [f"  inconclusive: {sentence}" for sentence in change.inconclusive]
    return "\n".join([head, *lines, *(f"  {line}" for line in change.sentences())])
