"""Labels of queries that are not finished: kept beside `gold.jsonl`, which an evaluation reads, and not in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from recallbench.corpora.field_reader import FieldReader
from recallbench.corpora.labelled_sets.label_book import Question, UnlabelledQuery
from recallbench.corpora.labelled_sets.labelled_records import SHORT
from recallbench.reading import is_finite, objects
from recallbench.whole_file import write_whole

Key = tuple[str, Question]


@dataclass(frozen=True, slots=True)
class BegunLabels:
    """The grades of queries of a set that were begun, as far as they were given."""

    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / f"{SHORT}.begun"

    def of(self, query: UnlabelledQuery) -> dict[str, float]:
        """Return the grades of a query by document, in the order in which they were given."""
        return self._read().get((query.id, query.question), {})

    def keep(self, query: UnlabelledQuery, grades: Mapping[str, float]) -> None:
        """Put these in the place of a query's grades, and see them on the disk; the file goes with the last of them."""
        kept = self._read()
        before = kept.pop((query.id, query.question), {})
        if grades:
            kept[query.id, query.question] = dict(grades)
        elif not before:
            return
        if kept:
            write_whole(self.path, "".join(_lines(kept)), synced=True)
        else:
            self.path.unlink()

    def _read(self) -> dict[Key, dict[str, float]]:
        found: dict[Key, dict[str, float]] = {}
        for number, record in objects(self.path) if self.path.exists() else ():
            reader = FieldReader("labels", self.path.name, f"line {number}")
            grades = record.get("grades")
            if not isinstance(grades, dict) or not all(map(is_finite, grades.values())):
                raise reader.refusal("grades", "an object of ids with grades", str(grades)[:60])
            words, place = reader.text(record, "query"), str(record.get("scope") or "")
            found[str(record.get("query_id") or ""), (words, place)] = {id: float(grades[id]) for id in grades}
        return found


def _lines(kept: Mapping[Key, Mapping[str, float]]) -> Iterable[str]:
    for (id, (words, place)), grades in kept.items():
        named = {"query_id": id} if id else {}
        record = {**named, "query": words, "scope": place, "grades": grades}
        yield json.dumps(record, ensure_ascii=False) + "\n"
