"""TREC runs and qrels of any tool, read."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeVar, overload

import numpy as np

from recallbench.errors import InputError
from recallbench.reading import finite_number, lines

_WHOLE = re.compile(r"-?[0-9]{1,9}")
SHOWN = 80
"""Characters shown of a field in an error."""
Ties = Literal["file", "trec"]
"""The order of equal scores: the file's, by its ranks and then its lines, or that of trec_eval."""
Id = TypeVar("Id")


class Refused(dict[str, InputError]):
    """The errors of questions that are left out; an unreadable line stands under its number instead."""

    def line(self, error: InputError) -> None:
        """Add the error of a line that can't be read."""
        self.of(error, None)

    def of(self, error: InputError, question: str | None) -> None:
        """Add the error of a question, or of a line that names none."""
        self.setdefault(error.problem if question is None else question, error)


class KeptHits(Sequence[tuple[str, float]]):
    """Documents with their scores, in a fifth of the memory of a list of pairs."""

    __slots__ = ("_documents", "_scores")

    def __init__(self, hits: Sequence[tuple[str, float]]) -> None:
        self._documents = " ".join(document for document, _ in hits)  # a name holds no blank
        self._scores = array("d", (score for _, score in hits))

    def __len__(self) -> int:
        return len(self._scores)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return zip(self._documents.split(), self._scores, strict=True)

    @overload
    def __getitem__(self, place: int) -> tuple[str, float]: ...
    @overload
    def __getitem__(self, place: slice) -> list[tuple[str, float]]: ...
    def __getitem__(self, place: int | slice) -> tuple[str, float] | list[tuple[str, float]]:
        return list(self)[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


class _Lines:
    """The lines of one question; once another one's follow, they are kept in little memory."""

    __slots__ = ("_apart", "_documents", "_open", "_ranks", "_scores")

    def __init__(self) -> None:
        self._apart = False
        """Whether its lines are mixed with those of others: then it stays open, lest each line opens it again."""
        self._open: dict[str, None] | None = {}
        """The documents in order, while lines are added."""
        self._documents = ""
        self._scores = array("d")
        self._ranks = array("i")

    def close(self) -> None:
        """Keep the lines for as long as none is added."""
        if self._open is not None and not self._apart:
            self._documents, self._open = " ".join(self._open), None

    def opened(self) -> dict[str, None]:
        """Return the documents that are there."""
        if self._open is None:
            self._open, self._documents, self._apart = dict.fromkeys(self._documents.split()), "", True
        return self._open

    def add(self, document: str, rank: int, score: float) -> None:
        """Add a line, of a document that is not there."""
        self.opened()[document] = None
        self._scores.append(score)
        self._ranks.append(rank)

    def hits(self) -> list[tuple[str, float]]:
        """Return them in ranking order."""
        documents = self._documents.split() if self._open is None else list(self._open)
        order = sorted(range(len(documents)), key=lambda place: (-self._scores[place], self._ranks[place]))
        return [(documents[place], self._scores[place]) for place in order]


def read_run(
    path: Path, refused: Refused | None = None, watch: Callable[[bytes], None] | None = None
) -> dict[str, list[tuple[str, float]]]:
    """Return ids and scores by question, in ranking order; raises InputError, naming the line, for what is no TREC run.

    The order is by score descending, then by the stated rank, then by line; `in_order_of` gives
    trec_eval's. A document twice for a question is refused. With `refused`, a question with a bad line is
    put there and left out here. `watch` is called with the bytes of each line.
    """
    return {question: lines.hits() for question, lines in _read_lines(path, refused, watch).items()}


def read_kept_run(path: Path, watch: Callable[[bytes], None] | None = None) -> dict[str, KeptHits]:
    """Return what `read_run` does, for whoever holds it for long."""
    read = _read_lines(path, None, watch)
    return {question: KeptHits(read.pop(question).hits()) for question in list(read)}


def _read_lines(path: Path, refused: Refused | None, watch: Callable[[bytes], None] | None) -> dict[str, _Lines]:
    questions: dict[str, _Lines] = {}
    last = _Lines()
    for number, fields in _rows(path, 6, "question Q0 document rank score tag", refused, watch):
        own = questions.get(fields[0])
        try:
            question, document, rank, score = _hit(path, number, fields, () if own is None else own.opened())
        except InputError as error:
            if refused is None:
                raise
            refused.setdefault(fields[0], error)
            continue
        own = questions.setdefault(question, own or _Lines())
        if own is not last:
            last.close()
            last = own
        own.add(document, rank, score)
    return {question: lines for question, lines in questions.items() if not refused or question not in refused}


def in_order_of(ties: Ties, hits: Sequence[tuple[Id, float]]) -> list[tuple[Id, float]]:
    """Return the hits of a question in the order of the rule; they come in the file's.

    trec_eval's is by score descending, in single precision, then by document id descending, byte by
    byte. It ignores ranks, and scores that differ in the eighth digit are equal.
    """
    if ties == "file":
        return list(hits)
    with np.errstate(over="ignore"):
        scores = np.array([score for _, score in hits], dtype=np.float64).astype(np.float32).tolist()
    ranked = sorted(
        zip(scores, hits, strict=True), key=lambda scored: (scored[0], str(scored[1][0]).encode()), reverse=True
    )
    return [hit for _, hit in ranked]


def _hit(path: Path, number: int, fields: list[str], seen: Collection[str]) -> tuple[str, str, int, float]:
    question, _, document, rank, score, _ = fields
    value = finite_number(score)
    if value is None:
        raise _refusal(path, number, "a finite score in the fifth column", score)
    if not _WHOLE.fullmatch(rank) or int(rank) < 0:
        raise _refusal(path, number, "a rank, 0 or more, in the fourth column", rank)
    if document in seen:
        raise _refusal(path, number, f"each document once for {question}", f"{document} again")
    return question, document, int(rank), value


def read_qrels(path: Path, refused: Refused | None = None) -> dict[str, dict[str, int]]:
    """Return grades by question and document; questions without a grade above 0 are kept.

    Raises InputError, naming the line, for what is no TREC judgement. `refused` is as in `read_run`.
    """
    judgements: dict[str, dict[str, int]] = {}
    for number, (question, _, document, grade) in _rows(path, 4, "question 0 document grade", refused):
        judged = judgements.setdefault(question, {})
        if not _WHOLE.fullmatch(grade):
            error = _refusal(path, number, "a whole number in the fourth column", grade)
        elif document in judged:
            error = _refusal(path, number, f"each document once for {question}", f"{document} again")
        else:
            judged[document] = int(grade)
            continue
        if refused is None:
            raise error
        refused.setdefault(question, error)
    return {question: grades for question, grades in judgements.items() if not refused or question not in refused}


def _rows(
    path: Path, columns: int, form: str, refused: Refused | None, watch: Callable[[bytes], None] | None = None
) -> Iterator[tuple[int, list[str]]]:
    for number, line in lines(path, None if refused is None else refused.line, watch):
        fields = line.split()
        if len(fields) == columns:
            yield number, fields
        elif fields:
            error = _refusal(path, number, f"{columns} columns: {form}", f"{len(fields)}")
            if refused is None:
                raise error
            refused.setdefault(fields[0], error)


def _refusal(path: Path, number: int, expected: str, found: str) -> InputError:
    return InputError(
        f"{path}, line {number}: not in TREC's form",
        expected=expected,
        found=found if len(found) <= SHOWN else f"{found[:SHOWN]}…",
        remedy="see `run.trec` and `qrels.trec` of any result folder",
    )
