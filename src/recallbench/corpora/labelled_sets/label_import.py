"""Questions and answers from a spreadsheet or JSON Lines, as lines of `gold.jsonl`: all of them, or the faults."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from recallbench.corpora.labelled_sets.label_book import LabelBook
from recallbench.corpora.labelled_sets.labelled_records import ABSTENTION, EVERYWHERE
from recallbench.corpora.labelled_sets.taken_rows import TakenRows
from recallbench.errors import InputError, UsageError
from recallbench.reading import document, objects

COLUMNS = {
    "query": ("query", "question", "text", "prompt"),
    "expected": ("expected", "answer", "expected_answer", "reference", "ground_truth"),
    "relevant": ("relevant", "relevant_ids", "relevant_id", "ids", "doc_ids", "doc_id", "document", "documents"),
    "kind": ("kind", "category", "type"),
    "scope": ("scope",),
    "tenant": ("tenant",),
    "query_id": ("query_id", "id", "_id", "qid"),
}
"""The fields of a line, each with the names of columns that are taken for it, the first that is there."""
ENDINGS = (".csv", ".tsv", ".jsonl")
TOLD = 5
"""Faults that are named one by one."""


@dataclass(frozen=True, slots=True)
class ImportedQuestions:
    """The lines of a file, ready for the book."""

    records: Mapping[str, Mapping[str, object]]
    """Those of new questions, by the id that each has there."""
    replaced: Mapping[str, Mapping[str, object]]
    """Those that take the place of a line, by the id that the line has."""
    skipped: int
    """Rows that are there already as they are."""
    judged: int
    """Rows that name what is relevant, or that nothing is."""
    expecting: int
    """Rows that say what an answer says."""
    passed_over: Sequence[str]
    """Columns that no field is called."""


def read_import(
    path: Path,
    documents: Mapping[str, Collection[str]],
    book: LabelBook,
    day: date,
    scope: str = "",
    *,
    replace: bool = False,
) -> ImportedQuestions:
    """Return the questions of a CSV, TSV or JSONL file.

    `documents` are the ids in each scope, the `book` has the queries that are there already, and `scope` is that of
    rows that name none. A row that is there already is skipped; one that is there with other content takes the place of
    that with `replace`. Raises InputError that names every line that can't be taken.
    """
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(
            f"--import {path} is no table", expected=f"a file that ends in {', '.join(ENDINGS)}", found=path.suffix
        )
    rows = list(_rows(path))
    if not rows:
        raise InputError(f"{path}: no questions", expected="a row for each question", found="an empty file")
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    fields = {field: next((name for name in known if name in names), "") for field, known in COLUMNS.items()}
    if fields["expected"] == "expected" and "answer" in names:
        fields["answer"] = "answer"  # the answer in words, beside the text that an answer stands in
    if not fields["query"]:
        raise InputError(
            f"{path}: no column is called question or query",
            expected="columns as question, answer, relevant, kind and scope",
            found=", ".join(names),
            remedy="name the column of the questions `question`",
        )
    faults: list[str] = []
    taken = TakenRows(book.records(), book.next_line, fields)
    for line, row in rows:
        cells = {field: row[name] for field, name in fields.items() if name and _filled(row.get(name))}
        if scope and "scope" not in cells and "tenant" not in cells:
            cells["scope"] = scope
        try:
            taken.take(line, _record(cells, documents, day), replace=replace)
        except ValueError as fault:
            faults.append(f"line {line}: {fault}")
    if faults:
        more = [f"and {len(faults) - TOLD} more lines"] if len(faults) > TOLD else []
        mend = "mend these lines, then import again"
        raise InputError(
            f"{path}: {len(faults)} of {len(rows)} rows can't be taken, and none was",
            expected="a question with its answer, or with the ids of documents that answer it",
            found="\n".join([*faults[:TOLD], *more]),
            remedy=f"{mend}; --replace takes rows that differ from what is there" if taken.differing else mend,
        )
    used = set(fields.values())
    return ImportedQuestions(
        taken.new,
        taken.replaced,
        taken.skipped,
        sum("relevant" in record for record in taken.rows),
        sum("expected" in record for record in taken.rows),
        [name for name in names if name not in used],
    )


def _record(
    cells: Mapping[str, Any],
    documents: Mapping[str, Collection[str]],
    day: date,
) -> dict[str, object]:
    """Return one line of the book, with an id where the row has one; raises ValueError that says what is wrong."""
    text = cells.get("query")
    if not isinstance(text, str):
        raise ValueError("no question")
    record: dict[str, object] = {"query": text.strip()}
    if "query_id" in cells:
        id = str(cells["query_id"])
        if id.split() != [id]:
            raise ValueError(f"the id {id!r} has blanks")
        record = {"query_id": id, **record}
    for field in ("scope", "tenant", "kind", "expected", "answer"):
        if field in cells:
            if not isinstance(cells[field], str):
                raise ValueError(f"{field} is no text")
            record[field] = cells[field].strip()
    place = str(record.get("scope") or record.get("tenant") or EVERYWHERE)
    if place not in documents:
        some = ", ".join(list(documents)[:5])
        raise ValueError(f"no document is in scope {place}, only in {some}")
    if "relevant" in cells:
        relevant = _relevant(cells["relevant"], documents[place])
        strange = [each for each in relevant if each not in documents[place]]
        if strange:
            where = "" if place == EVERYWHERE else f" of scope {place}"
            raise ValueError(f"corpus.jsonl has no document {strange[0]}{where}")
        record["relevant"] = relevant
    elif record.get("kind") == ABSTENTION:
        record["relevant"] = []
    elif "expected" not in record:
        raise ValueError("neither an answer nor the ids of relevant documents")
    return record | {"labelled_at": day.isoformat()}


def _relevant(value: Any, documents: Collection[str]) -> list[str] | dict[str, float]:
    """Return the ids of a cell: a list, or an object with grades; in a spreadsheet separated by ; or | or commas."""
    if isinstance(value, dict) and all(isinstance(grade, (int, float)) for grade in value.values()):
        return {str(id): float(grade) for id, grade in value.items()}
    if isinstance(value, list) and all(isinstance(id, (str, int)) for id in value):
        return [str(id) for id in value]
    if not isinstance(value, str):
        raise ValueError("relevant is neither a list of ids nor an object of ids with grades")
    whole = value.strip()
    if whole in documents:
        return [whole]
    separator = r"[;|]" if re.search(r"[;|]", whole) else r"[,\s]"
    return list(dict.fromkeys(id for part in re.split(separator, whole) if (id := part.strip())))


def _filled(value: Any) -> bool:
    return value is not None and (not isinstance(value, str) or bool(value.strip()))


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each row with its line, by the names of columns in small letters."""
    if path.suffix.lower() == ".jsonl":
        for line, record in objects(path):
            yield line, {_name(name): value for name, value in record.items()}
        return
    try:
        text = document(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError(
            f"{path}, line {line}: can't be read",
            expected="UTF-8",
            found=f"byte {error.object[error.start]:#04x}",
            remedy="save the table as CSV in UTF-8",
        ) from None
    head = text.partition("\n")[0]
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ";" if ";" in head and "," not in head else ","
    table = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names = [_name(name) for name in next(table, [])]
        if twice := [name for name in names if names.count(name) > 1]:
            raise InputError(f"{path}: two columns are called {twice[0]!r}", expected="each name once", found="two")
        start = table.line_num + 1
        for cells in table:
            if any(map(str.strip, cells)):
                if len(cells) > len(names):
                    raise InputError(
                        f"{path}, line {start}: more cells than columns",
                        expected=f"{len(names)}, as in the first line",
                        found=str(len(cells)),
                        remedy='put a cell that holds the separator into quotes, as "a, b"',
                    )
                yield start, dict(zip(names, cells, strict=False))
            start = table.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{path}, line {table.line_num}: can't be read", expected="a table in CSV", found=str(error)
        ) from None


def _name(column: str) -> str:
    return "_".join(column.strip().lower().split())
