"""The files of a labelled set: BEIR's layout, the short form `gold.jsonl`, or queries with candidates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

from recallbench.corpora.field_reader import FieldReader, describe
from recallbench.corpora.labelled_sets import candidate_files, hub_record
from recallbench.corpora.labelled_sets.judgement_file import LARGEST_GRADE, line_of, read_judgements
from recallbench.corpora.labelled_sets.labelled_records import (
    ABSTENTION,
    DOCUMENTS,
    EVERYWHERE,
    JUDGEMENTS,
    KIND,
    QUERIES,
    SHORT,
    Document,
    Files,
    LabelledQuery,
    PassedOver,
    document_key,
)
from recallbench.errors import InputError, UsageError
from recallbench.key_numbers import KeyNumbers
from recallbench.reading import is_finite, objects

MANY = 6
"""Other splits of which every choice is tried, when the set of an earlier result is looked for."""


def files_of(folder: Path, split: str | None = None, *, by_text: bool = False, ids_too: bool = False) -> Files:
    """The files of a set; raises InputError where one is missing, UsageError where a split must be named.

    Matched by text, queries need no judgements: those of a split that is named only say which queries are asked. Where
    ids count too, judgements are read where there are any.
    """
    of_hub = (folder / hub_record.NAME).is_file()
    if subsets := candidate_files.find_subsets(folder):
        if split is not None:
            raise UsageError(
                f"{folder} has no splits",
                expected="no --split: its queries lie in subsets, and all are asked",
                found=f"--split {split}",
                remedy="leave --split out, and out of RECALLBENCH_SPLIT and the settings file",
            )
        return candidate_files.files_of(folder, subsets, published=of_hub)
    documents = folder / DOCUMENTS
    if not documents.is_file():
        raise _missing(folder, DOCUMENTS)
    if (folder / SHORT).is_file() and split is None:
        if (folder / JUDGEMENTS).exists():
            raise InputError(
                f"{folder} holds labels twice",
                expected=f"either {SHORT}, or {QUERIES} with {JUDGEMENTS}/",
                found="both",
                remedy="move one of them away",
            )
        return Files({DOCUMENTS: documents, SHORT: folder / SHORT})
    if (folder / SHORT).is_file() and not (folder / QUERIES).is_file():
        raise UsageError(
            f"{folder} has no splits",
            expected=f"no --split: all its questions are in {SHORT}",
            found=f"--split {split}",
            remedy="leave --split out, and out of RECALLBENCH_SPLIT and the settings file",
        )
    if not (folder / QUERIES).is_file():
        raise _missing(folder, f"{QUERIES} (or {SHORT})")
    judged = {path.stem: path for path in sorted((folder / JUDGEMENTS).glob("*.tsv"))}
    if by_text and split is None and not (ids_too and judged):
        return Files({DOCUMENTS: documents, QUERIES: folder / QUERIES})
    if not judged:
        raise _missing(folder, f"{JUDGEMENTS}/*.tsv")
    if split is None and len(judged) > 1 and "test" not in judged:
        raise UsageError(
            f"{folder} has judgements for several splits",
            expected=f"--split, one of {', '.join(judged)}",
            found="none named",
            remedy=f"--split {next(iter(judged))}",
        )
    chosen = split or ("test" if "test" in judged else next(iter(judged)))
    if chosen not in judged:
        raise UsageError(
            f"{folder} has no split {chosen}", expected=", ".join(judged), found=chosen, remedy="name one of these"
        )
    # Of a hub set as many splits lie here as were fetched so far, which says nothing of the set.
    return Files(
        {DOCUMENTS: documents, QUERIES: folder / QUERIES, f"{JUDGEMENTS}/{chosen}.tsv": judged[chosen]},
        () if of_hub else tuple(path for name, path in judged.items() if name != chosen),
        published=of_hub,
    )


def every_split(folder: Path, *, by_text: bool = False, ids_too: bool = False) -> list[Files]:
    """The files of a set, once for each split of its judgements; then as they were before other splits were added."""
    if (folder / SHORT).is_file() or candidate_files.find_subsets(folder):
        return [files_of(folder)]
    splits = sorted(path.stem for path in (folder / JUDGEMENTS).glob("*.tsv"))
    by_split = [files_of(folder, split) for split in splits]
    whole = by_split or [files_of(folder, by_text=by_text)]
    if by_text and by_split and not ids_too:
        whole = [files_of(folder, by_text=True), *by_split]
    fewer = [
        replace(files, others=others)
        for files in by_split
        for size in range(len(files.others))
        # Of many splits not every choice is tried, only one left out and none there.
        if len(files.others) <= MANY or size in (0, len(files.others) - 1)
        for others in combinations(files.others, size)
    ]
    return [*whole, *fewer]


def queries_of_other_splits(files: Files, corpus: str) -> frozenset[str]:
    """The queries that another split judges and this one does not; those that should find nothing are of every one."""
    elsewhere = {id for other in files.others for id in _judged(other, corpus)}
    if not elsewhere:
        return frozenset()
    judged = _judged(files.parts[files.judgements], corpus)
    return frozenset(
        str(id)
        for _, record in objects(files.parts[QUERIES])
        if (id := record.get("_id")) in elsewhere and id not in judged and record.get("kind") != ABSTENTION
    )


def read_documents(files: Files, corpus: str, passed: PassedOver | None = None) -> Iterator[Document]:
    """Return each document; raises InputError for one without text, and for an id that comes twice in a scope.

    Of a set with candidates, a document comes once for each scope that it is a candidate in.
    """
    if files.subsets:
        return candidate_files.read_documents(files, corpus, passed or PassedOver())
    return _all_documents(files, corpus)


def _all_documents(files: Files, corpus: str) -> Iterator[Document]:
    path = files.parts[DOCUMENTS]
    seen = KeyNumbers()
    for number, record in objects(path):
        reader = FieldReader(corpus, path.name, f"line {number}")
        id = _id(record, "_id", reader)
        scope = _scope(record, reader)
        key = document_key(scope, id)
        before = seen.get(key)
        # What has the same key by chance is another document.
        if before is not None and _named_on_line(path, before, reader) == (scope, id):
            once = "each id once" if scope == EVERYWHERE else f"each id once in scope {scope}"
            raise reader.refusal("_id", once, f"{id}, as on line {before}")
        seen.update([key], [number])
        title = str(record.get("title") or "")
        body = reader.storable("text", reader.string(record, "text"))
        yield Document(
            id,
            scope,
            "\n".join(part for part in (reader.storable("title", title), body) if part.strip()),
            _time(record, "occurred_at", reader),
            _importance(record, reader),
        )
    if not seen:
        raise InputError(f"{path}: no documents", expected="a JSON object per line", found="an empty file")


def _named_on_line(path: Path, wanted: int, reader: FieldReader) -> tuple[str, str]:
    record = next(record for number, record in objects(path) if number == wanted)
    return _scope(record, reader), _id(record, "_id", reader)


def read_labels(files: Files, corpus: str, passed: PassedOver, *, expecting: bool = False) -> Iterator[LabelledQuery]:
    """Return each query that is judged, or that should find nothing.

    Queries without judgements are passed over, and noted in `passed`; in BEIR's layout of a set of the hub all that
    the split does not judge. `expecting` keeps those with an expected text.
    """
    if files.subsets:
        return candidate_files.read_labels(files, corpus, passed)
    return _short_form(files.parts[SHORT], corpus) if SHORT in files.parts else _beir(files, corpus, passed, expecting)


def _short_form(path: Path, corpus: str) -> Iterator[LabelledQuery]:
    seen: set[str] = set()
    for number, record in objects(path):
        reader = FieldReader(corpus, path.name, f"line {number}")
        line, own = f"q{number}", record.get("query_id") or record.get("_id")
        id = str(own or other_id(record, seen) or line)
        if id.split() != [id] or id in seen:
            raise reader.refusal("query_id", "an id without blanks that no other query has", describe(id))
        seen.add(id)
        label = _label(
            record, id, "query", _relevant(record, reader), replace(reader, item=f"query {id} (line {number})")
        )
        yield label if own else replace(label, name=label.text if id == line else "", line=line)


def other_id(record: Mapping[str, Any], seen: Collection[str]) -> str:
    """Return the id of another name that a query has; empty where it can be none. Earlier releases passed it over."""
    other = record.get("id", record.get("qid"))
    id = str(other) if isinstance(other, (str, int)) and not isinstance(other, bool) else ""
    return id if id.split() == [id] and id not in seen else ""


def _beir(files: Files, corpus: str, passed: PassedOver, expecting: bool) -> Iterator[LabelledQuery]:
    name = files.judgements
    judged = _judged(files.parts[name], corpus) if name else {}
    elsewhere = queries_of_other_splits(files, corpus)
    queries = files.parts[QUERIES]
    seen: set[str] = set()
    for number, record in objects(queries):
        reader = FieldReader(corpus, queries.name, f"line {number}")
        id = reader.identifier(record, "_id")
        if id in seen:
            raise reader.refusal("_id", "an id that no other query has", f"{id} again")
        seen.add(id)
        if id in elsewhere:
            continue
        needs_no_judgement = record.get("kind") == ABSTENTION or (expecting and record.get("expected") is not None)
        if name and id not in judged and not needs_no_judgement:
            passed.unjudged.append(id)
            continue
        grades = judged.get(id, {})
        yield _label(record, id, "text", grades, replace(reader, item=f"query {id} (line {number})"))
    unknown = next((id for id in judged if id not in seen), None)
    if unknown is not None:
        raise InputError(
            f"{name}: line {line_of(files.parts[name], unknown)}: judges {unknown}",
            expected=f"a query of {QUERIES}",
            found="no query of that id",
            remedy="add the query, or take its judgements out",
        )


def _judged(path: Path, corpus: str) -> dict[str, dict[str, float]]:
    return read_judgements(path, corpus, f"{JUDGEMENTS}/{path.name}")


def _label(
    record: dict[str, Any], id: str, field: str, grades: Mapping[str, float], reader: FieldReader
) -> LabelledQuery:
    scope, tenant = _scope(record, reader), record.get("tenant")
    return LabelledQuery(
        id,
        scope,
        reader.identifier(record, "tenant") if tenant is not None else (scope if record.get("scope") else ""),
        reader.identifier(record, "kind") if record.get("kind") is not None else KIND,
        reader.text(record, field),
        grades,
        _time(record, "occurred_at", reader),
        _time(record, "labelled_at", reader),
        reader,
        reader.text(record, "expected") if record.get("expected") is not None else "",
        _answer(record, reader),
        tuple(record),
    )


def _answer(record: dict[str, Any], reader: FieldReader) -> str:
    if record.get("answer") is None:
        return ""
    return reader.answer(record) or reader.text(record, "answer")


def _relevant(record: dict[str, Any], reader: FieldReader) -> dict[str, float]:
    relevant = record.get("relevant", [])
    if isinstance(relevant, dict):
        wrong = next((id for id, grade in relevant.items() if not _is_grade(grade)), None)
        if wrong is not None:
            raise reader.refusal(
                "relevant", f"grades from 0 to {LARGEST_GRADE:,}", f"{wrong}: {describe(relevant[wrong])}"
            )
        return {id: float(grade) for id, grade in relevant.items()}
    if not isinstance(relevant, list) or not all(isinstance(id, (str, int)) for id in relevant):
        raise reader.refusal("relevant", "a list of ids, or an object of ids with grades", describe(relevant))
    ids = [str(id) for id in relevant]
    if len(set(ids)) < len(ids):
        raise reader.refusal("relevant", "each id once", f"{next(id for id in ids if ids.count(id) > 1)} again")
    return dict.fromkeys(ids, 1.0)


def _is_grade(value: object) -> bool:
    return is_finite(value) and 0 <= value <= LARGEST_GRADE


def _id(record: dict[str, Any], field: str, reader: FieldReader) -> str:
    value = record.get(field)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return reader.text(record, field)


def _scope(record: dict[str, Any], reader: FieldReader) -> str:
    """Return the scope of a line: its own, else its tenant, else the one of all lines without either."""
    for field in ("scope", "tenant"):
        if record.get(field) is not None:
            return reader.identifier(record, field)
    return EVERYWHERE


def _time(record: dict[str, Any], field: str, reader: FieldReader) -> datetime | None:
    value = record.get(field)
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        raise reader.refusal(field, "a date or time such as 2026-11-18T09:30:00Z", describe(value)) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _importance(record: dict[str, Any], reader: FieldReader) -> float:
    importance = record.get("importance", 0.5)
    if not _is_grade(importance) or importance > 1:
        raise reader.refusal("importance", "a number from 0 to 1", describe(importance))
    return float(importance)


def _missing(folder: Path, name: str) -> InputError:
    if not folder.is_dir():
        return InputError(
            f"{folder} is a file" if folder.exists() else f"there is no folder {folder}",
            expected=f"the folder of a set of your own: {DOCUMENTS} with {SHORT}, or with {QUERIES} and {JUDGEMENTS}/",
            found="a file" if folder.exists() else "nothing",
            remedy="name the folder that the file lies in" if folder.exists() else "check the path",
        )
    there = ", ".join(sorted(path.name for path in folder.iterdir())[:8])
    return InputError(
        f"{folder} is no set of questions and answers: {name} is missing",
        expected=f"{DOCUMENTS} with {SHORT}, or with {QUERIES} and {JUDGEMENTS}/<split>.tsv",
        found=there or "an empty folder",
        remedy=f'a line of {DOCUMENTS} is {{"_id": "d1", "text": "…"}}, one of {SHORT} '
        '{"query": "…", "relevant": ["d1"]}; `recallbench label` writes the second',
    )
