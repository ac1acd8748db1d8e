"""Cases from a file: TREC or BEIR judgements, JSON Lines, or {query: {id: grade}}."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recallbench.cases.case import ABSTENTION, Case
from recallbench.cases.files.records import KNOWN, Record, form_of, id_text, records
from recallbench.corpora.field_reader import misspelling_hint
from recallbench.errors import InputError
from recallbench.reading import lines
from recallbench.results.trec import Refused, read_qrels


@dataclass(frozen=True, slots=True)
class Gold:
    """The cases, and the errors of those that can't be read."""

    cases: tuple[Case, ...]
    refused: tuple[InputError, ...] = ()
    passed_over: tuple[str, ...] = ()
    """Queries whose judgements are all of grade 0: that is not a statement that nothing should be found."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes that belong beside the figures."""
        count = len(self.passed_over)
        whose = "query whose judgements are" if count == 1 else "queries whose judgements are"
        return (f"{count} {whose} all of grade 0 passed over",) if count else ()


def read_gold(path: Path, *, keep_going: bool = False) -> Gold:
    """Return every query of the file; raises InputError, naming a query that is no case, unless `keep_going`.

    One that was judged, and has grade 0 alone, is passed over.
    """
    queries: Iterable[Record]
    refused: list[InputError] = []
    passed_over: dict[str, None] = {}
    if form_of(path) == "trec":
        left_out = Refused() if keep_going else None
        judged = _beir(path, left_out) if _columns(path) == 3 else read_qrels(path, left_out)
        queries = [Record(query, None, {"relevant": grades}, str(path)) for query, grades in judged.items()]
        refused += (left_out or {}).values()
    else:
        queries = records(path, "relevant", (lambda error, query: refused.append(error)) if keep_going else None)
    cases: dict[str, Case] = {}
    for record in queries:
        try:
            if record.name in cases or record.name in passed_over:
                raise record.wrong("judged twice", "each query once", f"{record.name} again")
            case = _case(record)
            if case is None:
                passed_over[record.name] = None
            else:
                cases[record.name] = case
        except InputError as error:
            if not keep_going:
                raise
            refused.append(error)
    if not cases and passed_over and not refused:
        raise InputError(
            f"{path} has no relevant document",
            expected="at least one grade above 0",
            found=f"{len(passed_over)} queries judged, all with grade 0",
            remedy="check the file given with --gold",
        )
    if not cases:
        raise refused[0] if refused else InputError(f"{path}: no queries", expected="one or more", found="none")
    return Gold(tuple(cases.values()), tuple(refused), tuple(passed_over))


def _case(record: Record) -> Case | None:
    """Return the case; None where all judgements are of grade 0, and nothing else says what is to be found."""
    listed, fields = record.fields.get("relevant", []), record.fields
    relevant: dict[str, float] | list[str]
    if isinstance(listed, Mapping):
        # A grade below 0 is TREC's "judged, and worse than nothing": not relevant.
        relevant = {_id(record, id): max(0.0, _grade(record, id, grade)) for id, grade in listed.items()}
    elif isinstance(listed, list):
        relevant = [_id(record, id) for id in listed]
    else:
        raise record.wrong("`relevant` is not a list of ids", "a list of ids, or {id: grade}", repr(listed)[:60])
    grades = fields.get("grades")
    if grades is not None:
        if not isinstance(grades, Mapping):
            raise record.wrong("`grades` is not a mapping", "{id: grade}", repr(grades)[:60])
        grades = {_id(record, id): _grade(record, id, grade) for id, grade in grades.items()}
    expected, kind = (_text(record, name) for name in ("expected", "kind"))
    judged = isinstance(relevant, dict) and bool(relevant) and not any(relevant.values()) and grades is None
    if judged and expected is None and kind != ABSTENTION:
        return None
    labels = {
        name: str(value)
        for name, value in fields.items()
        if name not in KNOWN and isinstance(value, (str, int, float)) and not isinstance(value, bool)
    }
    try:
        return Case(
            record.query or record.name,
            relevant,
            grades,
            expected,
            kind,
            record.name,
            labels,
        )
    except InputError as error:
        # A field that is there is not the one that was meant.
        missing = [name for name in ("relevant", "expected") if name not in fields]
        meant = "".join(misspelling_hint(fields, name) for name in missing) if len(missing) == 2 else ""
        failure = InputError(
            f"{record.place}: {error.problem}",
            expected=error.expected,
            found=f"{error.found}{meant}",
            remedy="mend the file",
        )
        raise failure from None


def _text(record: Record, name: str) -> str | None:
    """Return a text, or a number that JSON did not quote: years are answers."""
    value = record.fields.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise record.wrong(f"`{name}` is not a text", "a string", repr(value)[:60])
    return str(value)


def _id(record: Record, value: Any) -> str:
    id = id_text(value)
    if id is None:
        raise record.wrong("not an id", "a string or a whole number", repr(value)[:60])
    return id


def _grade(record: Record, id: Any, value: Any) -> float:
    try:
        grade = float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
    except OverflowError:
        grade = math.inf
    if not math.isfinite(grade):
        raise record.wrong("a grade is not a number", f"a number for {id}", repr(value)[:60])
    return grade


def _columns(path: Path) -> int:
    return next((len(line.split()) for _, line in lines(path) if line.strip()), 0)


def _beir(path: Path, refused: Refused | None) -> dict[str, dict[str, float]]:
    """Read BEIR's three columns, with or without their header; `refused` is as in `read_qrels`."""
    judged: dict[str, dict[str, float]] = {}
    for number, line in lines(path, None if refused is None else refused.line):
        fields = line.split()
        if not fields or (number == 1 and fields[-1].lower() == "score"):
            continue
        try:
            query, document, grade = _judgement(path, number, fields)
            if document in judged.setdefault(query, {}):
                raise InputError(
                    f"{path}, line {number}: judged twice",
                    expected=f"each id once for {query}",
                    found=f"{document} again",
                )
        except InputError as error:
            if refused is None:
                raise
            refused.setdefault(fields[0], error)
        else:
            judged[query][document] = grade
    return {query: grades for query, grades in judged.items() if not refused or query not in refused}


def _judgement(path: Path, number: int, fields: list[str]) -> tuple[str, str, float]:
    try:
        query, document, text = fields
        grade = float(text)
    except ValueError:
        grade = math.nan
    if not math.isfinite(grade):
        columns = " ".join(fields)[:60]
        raise InputError(f"{path}, line {number}: no judgement", expected="query-id, corpus-id, score", found=columns)
    return query, document, grade
