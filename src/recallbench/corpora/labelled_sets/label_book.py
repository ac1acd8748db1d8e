"""`gold.jsonl` while it is being written: one whole line per query, appended at once, rewritten only when asked."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from recallbench.corpora.field_reader import FieldReader
from recallbench.corpora.labelled_sets.labelled_files import other_id
from recallbench.corpora.labelled_sets.labelled_records import ABSTENTION, DOCUMENTS, JUDGEMENTS, QUERIES, SHORT
from recallbench.errors import InputError
from recallbench.reading import lines, objects
from recallbench.whole_file import write_whole

Question = tuple[str, str]
"""The words of a question, and the scope or tenant that it is asked in; empty for none."""


@dataclass(frozen=True, slots=True)
class UnlabelledQuery:
    """A query that waits for its labels."""

    id: str
    """Its own; empty where it has none."""
    text: str
    scope: str = ""
    kind: str = ""
    tenant: str = ""

    @property
    def question(self) -> Question:
        """Its words and its place, by which it is known where it has no id."""
        return _question(self.text, self.scope or self.tenant)


@dataclass(frozen=True, slots=True)
class LabelBook:
    """The labels of a set, as far as they are made."""

    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / SHORT

    def refuse_other_labels(self) -> None:
        """Raise InputError where the folder has judgements in files of their own: a set holds its labels once."""
        if (self.folder / JUDGEMENTS).exists():
            raise InputError(
                f"{self.folder} has its labels in {JUDGEMENTS}/",
                expected=f"no labels, or {SHORT}",
                found=f"{JUDGEMENTS}/, beside which {SHORT} would hold labels twice",
                remedy=f"move {JUDGEMENTS}/ away, or label a copy of {DOCUMENTS}",
            )

    def mend(self) -> Path | None:
        """Set aside a last line that was cut off when the machine went down, and say where; None where all are whole.

        Its query is asked again.
        """
        content = self.path.read_bytes() if self.path.exists() else b""
        if not content or content.endswith(b"\n"):
            return None
        whole = content.rfind(b"\n") + 1
        cut = self.path.with_name(f"{SHORT}.cut")
        with cut.open("ab") as aside:
            aside.write(content[whole:] + b"\n")
        with self.path.open("r+b") as file:
            file.truncate(whole)
        return cut

    def records(self) -> dict[str, dict[str, Any]]:
        """Return each line by the id of its query; raises InputError for a line that can't be read."""
        return {id: record for _, id, record in self._lines()}

    def _lines(self) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """Yield each line with its number and the id of its query."""
        seen: set[str] = set()
        for number, record in objects(self.path) if self.path.exists() else ():
            id = stated_id(record) or other_id(record, seen) or f"q{number}"
            seen.add(id)
            yield number, id, record

    @property
    def next_line(self) -> int:
        """The number of the line that comes next."""
        return sum(1 for _ in lines(self.path)) + 1 if self.path.exists() else 1

    def append(self, query: UnlabelledQuery, grades: Mapping[str, float], day: date) -> str:
        """Add the line of one query, see it on the disk, and return the id that the query has there.

        No grade above 0 means that nothing answers it.
        """
        relevant = {id: grade for id, grade in grades.items() if grade > 0}
        id, named = name_line(query.id, self.next_line, self.records())
        record: dict[str, object] = {**named, "query": query.text}
        record["relevant"] = relevant if set(relevant.values()) - {1.0} else list(relevant)
        for name in ("scope", "tenant"):
            if value := getattr(query, name):
                record[name] = value
        if not relevant:
            record["kind"] = ABSTENTION
        elif query.kind:
            record["kind"] = query.kind
        record["labelled_at"] = day.isoformat()
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, _line(record).encode())
            os.fsync(handle)
        finally:
            os.close(handle)
        return id

    def take_back(self, query: UnlabelledQuery) -> None:
        """Drop the last line, which is that query's; raises InputError where another came behind it meanwhile."""
        content = self.path.read_bytes()
        start = content.rstrip(b"\n").rfind(b"\n") + 1
        last = json.loads(content[start:]) if content else {}
        its = isinstance(last, dict) and question_of(last) == query.question and (stated_id(last) or "") == query.id
        if not its:
            raise InputError(
                f"{self.path} was changed meanwhile",
                expected=f"the label of {query.text!r} in its last line",
                found="another line",
                remedy="mend the file by hand, and go on",
            )
        with self.path.open("r+b") as file:
            file.truncate(start)
            os.fsync(file.fileno())

    def add_all(
        self, records: Collection[Mapping[str, object]], replaced: Mapping[str, Mapping[str, object]] | None = None
    ) -> None:
        """Add the lines of many queries at once, and put others in the place of those with the ids of `replaced`.

        All of that is done afterwards, or nothing; other lines keep their bytes.
        """
        waiting = dict(replaced or {})
        if not records and not waiting:
            return
        before = self.path.read_bytes().splitlines(keepends=True) if self.path.exists() else []
        if waiting:
            for number, id, _ in self._lines():
                if (new := waiting.pop(id, None)) is not None:
                    before[number - 1] = _line(new).encode()
        if waiting:
            raise InputError(
                f"{self.path} was changed meanwhile",
                expected=f"a line of {next(iter(waiting))}",
                found="none",
                remedy="import again",
            )
        write_whole(self.path, b"".join(before) + "".join(map(_line, records)).encode(), synced=True)


def question_of(record: Mapping[str, object]) -> Question:
    """Return the question of a line."""
    return _question(str(record.get("query") or ""), str(record.get("scope") or record.get("tenant") or ""))


def stated_id(record: Mapping[str, object]) -> str:
    """Return the id that a line says of itself; empty where it is known by its question alone."""
    return str(record.get("query_id") or record.get("_id") or "")


def name_line(own: str, number: int, taken: Collection[str]) -> tuple[str, Mapping[str, str]]:
    """Return the id of a query in the line of that number, and the field that says so where the line can't itself.

    A query without an id of its own goes by its line, and is called by its words in output, unless another has the
    line's name already.
    """
    if own:
        return own, {"query_id": own}
    line = f"q{number}"
    if line not in taken:
        return line, {}
    free = next(id for count in itertools.count(2) if (id := f"{line}-{count}") not in taken)
    return free, {"query_id": free}


def _question(text: str, place: str) -> Question:
    return " ".join(text.split()), place


def _line(record: Mapping[str, object]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def queries_to_label(folder: Path, file: Path | None) -> list[UnlabelledQuery]:
    """Return the queries of `file` (JSON lines with `query` or `text`, or one query a line), else of queries.jsonl."""
    if not (folder / DOCUMENTS).is_file():
        raise InputError(
            f"{folder} has no {DOCUMENTS}" if folder.is_dir() else f"there is no folder {folder}",
            expected=f"a folder with {DOCUMENTS}: the documents that questions are asked of",
            found="none",
            remedy='check the path; a line of it is {"_id": "d1", "text": "…"}',
        )
    path = file or folder / QUERIES
    if not path.is_file():
        raise InputError(
            f"{path}: no queries",
            expected=f"{QUERIES} beside {DOCUMENTS}, or --queries FILE, or --query TEXT",
            found="no such file",
            remedy="put one query a line into a text file and name it with --queries",
        )
    if path.suffix == ".jsonl":
        return [_query(record, number, path) for number, record in objects(path)]
    return [UnlabelledQuery("", line.strip()) for _, line in lines(path) if line.strip()]


def _query(record: Mapping[str, object], number: int, path: Path) -> UnlabelledQuery:
    reader = FieldReader("labels", path.name, f"line {number}")
    field = "query" if "query" in record else "text"
    words = {name: str(record[name]) for name in ("scope", "kind", "tenant") if record.get(name) is not None}
    return UnlabelledQuery(stated_id(record) or other_id(record, ()), reader.text(record, field), **words)
