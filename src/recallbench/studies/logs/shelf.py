"""The documents of a set that is being labelled, found by their scope, id or words."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from recallbench.corpora.labelled_sets.label_book import UnlabelledQuery
from recallbench.corpora.labelled_sets.labelled_files import read_documents
from recallbench.corpora.labelled_sets.labelled_records import DOCUMENTS, EVERYWHERE, Files
from recallbench.corpora.records import Segment
from recallbench.errors import InputError
from recallbench.stores.bm25 import BM25Store
from recallbench.stores.store import Item, Query


@dataclass(frozen=True, slots=True)
class Proposal:
    """A document that is put forward for a query."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """All documents, by scope."""

    segments: dict[str, list[Segment]]
    _searched: dict[str, BM25Store] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Shelf:
        """Return the documents of a folder; raises InputError where it has none."""
        file = folder / DOCUMENTS
        if not file.is_file():
            raise InputError(
                f"{folder}: {DOCUMENTS} is missing", expected="the documents to label", found="no such file"
            )
        segments: dict[str, list[Segment]] = {}
        for document in read_documents(Files({DOCUMENTS: file}), folder.name):
            scope = segments.setdefault(document.scope, [])
            scope.append(
                Segment(
                    document.scope,
                    len(scope),
                    document.text,
                    document.occurred_at,
                    document.id,
                    importance=document.importance,
                )
            )
        return cls(segments)

    def scope_of(self, query: UnlabelledQuery) -> str:
        """Return the scope that answers a query; raises InputError where no document is in it."""
        scope = query.scope or query.tenant or EVERYWHERE
        if scope not in self.segments:
            raise InputError(
                f"query {query.id or query.text!r}: no document is in scope {scope}",
                expected=f"one of {', '.join(list(self.segments)[:8])}",
                found=scope,
                remedy=f"name it with --scope, as --scope {next(iter(self.segments))}",
            )
        return scope

    def named(self, query: UnlabelledQuery, id: str) -> Proposal | None:
        """Return the document of this id in the scope of the query; None where there is none."""
        its = (segment for segment in self.segments[self.scope_of(query)] if segment.session == id)
        return next((Proposal(segment.session, segment.text) for segment in its), None)

    def find(self, query: UnlabelledQuery, words: str, k: int) -> list[Proposal]:
        """Return the document of this id, else the k that BM25 finds by these words, in the scope of the query."""
        if named := self.named(query, words):
            return [named]
        scope = self.scope_of(query)
        segments = self.segments[scope]
        if scope not in self._searched:
            store = BM25Store()
            store.prepare(0)
            store.ingest([Item(each.position, 0, each.text, None, each.importance) for each in segments], None)
            self._searched[scope] = store
        hits = self._searched[scope].search(Query(0, words, None), k)
        return [Proposal(segments[hit.id].session, segments[hit.id].text) for hit in hits if hit.score > 0]
