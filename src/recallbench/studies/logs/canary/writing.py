"""The folder of a canary: a labelled set of its own, with the whole haystack of every question, and its record."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TextIO

from recallbench.corpora.labelled_sets.canary_record import NAME, CanaryRecord, record_text
from recallbench.corpora.labelled_sets.labelled_files import read_documents, read_labels
from recallbench.corpora.labelled_sets.labelled_records import DOCUMENTS, QUERIES, SHORT, Files, PassedOver
from recallbench.errors import InputError, UsageError
from recallbench.reading import lines, objects
from recallbench.results.folder import staged
from recallbench.studies.logs.canary.candidates import Candidate, QuestionSet, read_set


def refuse_existing(folder: Path) -> None:
    """Raise UsageError where the folder is there: no canary is overwritten."""
    if folder.exists() or folder.is_symlink():
        raise UsageError(
            f"{folder} exists already",
            expected="a folder that does not exist: a canary is never overwritten",
            found=f"an existing {'folder' if folder.is_dir() else 'file'}",
            remedy="name another --folder; `recallbench canary DIR --refresh --folder NEW` draws a stale one anew",
        )


def write_canary(folder: Path, source: QuestionSet, questions: Collection[Candidate], record: CanaryRecord) -> None:
    """Write the set whole or not at all; raises InputError where the source changed meanwhile."""
    refuse_existing(folder)
    ids = {question.id for question in questions}
    scopes = {question.scope for question in questions}
    state = source.files.state()
    with staged(folder) as staging:
        place = staging.temporary
        _write_documents(source.files, source.folder.name, scopes, place / DOCUMENTS)
        if SHORT in source.files.parts:
            _write_short(source.files, source.folder.name, ids, place / SHORT)
        else:
            _write_beir(source.files, ids, place)
        (place / NAME).write_text(record_text(record), encoding="utf-8")
        if {candidate.id for candidate in read_set(place, source.split).candidates} != ids:
            raise ValueError(f"{place} does not hold the questions that were drawn")
        if source.files.state() != state:
            raise InputError(
                f"{source.folder}: changed while it was being read",
                expected="the files that the questions were drawn from",
                found="another size or time of change",
                remedy="draw again once nothing writes there",
            )


def _write_documents(files: Files, name: str, scopes: Collection[str], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        # Both read one document a line.
        for (_, line), document in zip(lines(files.parts[DOCUMENTS]), read_documents(files, name), strict=True):
            if document.scope in scopes:
                file.write(f"{line}\n")


def _write_short(files: Files, name: str, ids: Collection[str], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for (_, record), label in zip(objects(files.parts[SHORT]), read_labels(files, name, PassedOver()), strict=True):
            if label.id in ids:
                # The id of a query that names none counts lines, which are other ones here.
                _write_line(file, {"query_id": label.id, **record} if label.line else record)


def _write_beir(files: Files, ids: Collection[str], place: Path) -> None:
    with (place / QUERIES).open("w", encoding="utf-8") as file:
        for _, record in objects(files.parts[QUERIES]):
            if str(record["_id"]) in ids:
                _write_line(file, record)
    if not files.judgements:
        return
    judged = place / files.judgements
    judged.parent.mkdir()
    with judged.open("w", encoding="utf-8") as file:
        for number, line in lines(files.parts[files.judgements]):
            fields = line.split("\t") if "\t" in line else line.split()
            header = number == 1 and fields[-1:] and fields[-1].strip().lower() == "score"
            if header or (fields and fields[0].strip() in ids):
                file.write(f"{line}\n")


def _write_line(file: TextIO, record: Mapping[str, Any]) -> None:
    file.write(json.dumps(record, ensure_ascii=False) + "\n")
