"""The labels of a sample of a log: ids, or the text that an answer says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recallbench.corpora.field_reader import misspelling_hint
from recallbench.corpora.matching.tokens import words
from recallbench.errors import InputError
from recallbench.reading import objects

ABSTENTION = "abstention"


@dataclass(frozen=True, slots=True)
class QueryLabel:
    """The label of one query."""

    id: str
    query: str
    grades: Mapping[str, float]
    expected: str = ""
    """The text of an answer; empty where labels are read by their ids."""

    @property
    def relevant(self) -> frozenset[str]:
        """The ids that answer it."""
        return frozenset(id for id, grade in self.grades.items() if grade > 0)

    @property
    def expects_nothing(self) -> bool:
        """Whether nothing should be found."""
        return not self.expected and not self.relevant


def read_labels(path: Path, *, by_text: bool = False) -> tuple[list[QueryLabel], int]:
    """Return the labels, and the number of queries without one; raises InputError, naming the line, for any other line.

    With `by_text` a query is labelled by its `expected`, and `relevant` ids are passed over; where some queries have
    ids alone, ids decide each that has any.
    """
    mixed = by_text and _mixed(path)
    labels: list[QueryLabel] = []
    waiting = other = 0
    seen: dict[str, int] = {}
    for number, record in objects(path):
        query = record.get("query")
        if not isinstance(query, str) or not query.strip():
            raise _refusal(path, number, "query, a text", repr(query)[:60])
        text = " ".join(query.split())
        id = str(record.get("query_id") or "")
        if (id or text) in seen:
            raise _refusal(path, number, f"each query once, it is on line {seen[id or text]} too", id or text[:60])
        seen[id or text] = number
        textual = by_text and not (mixed and record.get("relevant"))
        label = (_by_text if textual else _by_ids)(record, QueryLabel(id, text, {}), path, number)
        if label is None:
            waiting += 1
            other += record.get("relevant" if textual else "expected") is not None
        else:
            labels.append(label)
    if not labels:
        remedy = "fill in `relevant`, by hand or with `recallbench label`"
        if by_text:
            remedy = "fill in `expected`, what an answer says"
        elif other:
            remedy = "--match tokens scores by the expected text"
        raise InputError(
            f"{path}: nothing says what is relevant",
            expected="lines whose `expected` says an answer" if by_text else "lines whose `relevant` lists ids",
            found=f"{waiting} {'query that waits' if waiting == 1 else 'queries that wait'} for labels"
            if waiting
            else "an empty file",
            remedy=remedy,
        )
    return labels, waiting


def _mixed(path: Path) -> bool:
    """Whether some queries have ids and no expected text, and others a text."""
    kinds = [(bool(record.get("relevant")), record.get("expected") is not None) for _, record in objects(path)]
    return (True, False) in kinds and any(text for _, text in kinds)


def _by_ids(record: Mapping[str, Any], unlabelled: QueryLabel, path: Path, number: int) -> QueryLabel | None:
    relevant = record.get("relevant")
    if relevant is None:
        if "relevant" not in record and (meant := misspelling_hint(record, "relevant")):
            raise _refusal(path, number, "relevant, a list of ids", f"none{meant}", "mend the file")
        return None
    label = QueryLabel(unlabelled.id, unlabelled.query, _grades(relevant, path, number))
    if label.expects_nothing != (record.get("kind") == ABSTENTION):
        expected = "no relevant id" if not label.expects_nothing else f"relevant ids, or kind {ABSTENTION}"
        raise _refusal(path, number, expected, f"{len(label.grades)} with kind {record.get('kind')}")
    return label


def _by_text(record: Mapping[str, Any], unlabelled: QueryLabel, path: Path, number: int) -> QueryLabel | None:
    expected, kind = record.get("expected"), record.get("kind")
    if expected is None and kind == ABSTENTION and record.get("relevant", ()) is not None:
        if record.get("relevant"):
            raise _refusal(path, number, "no relevant id", f"{len(record['relevant'])} with kind {kind}")
        return unlabelled
    if expected is None:
        if record.get("relevant") is not None:
            raise _refusal(
                path,
                number,
                f"expected, the text of an answer, or kind {ABSTENTION}",
                "relevant ids alone",
                "--match id",
            )
        if "relevant" not in record and (meant := misspelling_hint(record, "expected")):
            raise _refusal(path, number, "expected, the text of an answer", f"none{meant}", "mend the file")
        return None
    if not isinstance(expected, str) or not words(expected):
        raise _refusal(path, number, "expected, a text with letters or digits", repr(expected)[:60])
    if kind == ABSTENTION:
        raise _refusal(path, number, "no expected text", f"one with kind {kind}")
    return QueryLabel(unlabelled.id, unlabelled.query, {}, expected)


def _grades(relevant: Any, path: Path, number: int) -> dict[str, float]:
    if isinstance(relevant, list) and all(isinstance(id, (str, int)) and not isinstance(id, bool) for id in relevant):
        return {str(id): 1.0 for id in relevant}
    if isinstance(relevant, dict) and all(
        isinstance(grade, (int, float)) and not isinstance(grade, bool) and grade >= 0 for grade in relevant.values()
    ):
        return {id: float(grade) for id, grade in relevant.items()}
    raise _refusal(path, number, "relevant, a list of ids, or ids with grades of 0 or more", repr(relevant)[:60])


def _refusal(path: Path, number: int, expected: str, found: str, remedy: str = "") -> InputError:
    return InputError(
        f"{path}, line {number}: not a label",
        expected=expected,
        found=found,
        remedy=remedy or "`recallbench sample` writes the lines; fill in `relevant`, or `expected` for --match",
    )
