"""What the files of a labelled set hold: documents, queries with their gold, and what is passed over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from recallbench.corpora.field_reader import FieldReader
from recallbench.reading import state

DOCUMENTS, QUERIES, JUDGEMENTS, SHORT = "corpus.jsonl", "queries.jsonl", "qrels", "gold.jsonl"
EVERYWHERE = "all"
"""The scope of documents and queries that name none."""
KIND, ABSTENTION = "query", "abstention"
"""The kind of a query that names none, and of one that should find nothing."""


@dataclass(frozen=True, slots=True)
class Files:
    """The files that decide the measurement, by the names they count under."""

    parts: Mapping[str, Path]
    others: tuple[Path, ...] = ()
    """Judgements of other splits: queries that they alone judge are not of this one."""
    subsets: tuple[str, ...] = ()
    """The folders with queries of a set whose queries have candidates; empty for any other set."""
    published: bool = False
    """Its record says that it came from the hub: nobody here can mend it, and what names nothing is counted."""

    @property
    def judgements(self) -> str:
        """The name of the split's own; empty where none are read."""
        return next((name for name in self.parts if name.startswith(JUDGEMENTS)), "")

    def state(self) -> tuple[object, ...]:
        """Return facts of the files that change when one of them is written."""
        return tuple(state(path) for path in (*self.parts.values(), *self.others))


@dataclass(frozen=True, slots=True)
class Document:
    """One thing to remember."""

    id: str
    scope: str
    text: str
    occurred_at: datetime | None
    importance: float


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    """One query, and its answers as far as they are known."""

    id: str
    scope: str
    tenant: str
    kind: str
    text: str
    grades: Mapping[str, float]
    asked_at: datetime | None
    labelled_at: datetime | None
    reader: FieldReader
    expected: str = ""
    """The text of an answer."""
    answer: str = ""
    """The right answer in words, for whoever answers from what was found."""
    fields: tuple[str, ...] = ()
    """The names of its line's fields."""
    name: str = ""
    """Its text, where the id only counts lines."""
    line: str = ""
    """The id that counts lines, where none is named as one: earlier releases know it by that."""

    @property
    def relevant(self) -> bool:
        """Whether it names a document that answers it."""
        return any(self.grades.values())

    @property
    def irrelevant(self) -> bool:
        """Whether grade 0 is all that it was judged with. That nothing should be found is another thing to say."""
        return bool(self.grades) and not self.relevant and self.kind != ABSTENTION


class SubsetCounts(NamedTuple):
    """The counts of a subset, as its files have them."""

    queries: int
    documents: int
    judgements: int


@dataclass(slots=True)
class PassedOver:
    """What the files of a set say that no question is asked by, counted while they are read."""

    unjudged: list[str] = field(default_factory=list)
    """Queries that the judgements say nothing of."""
    irrelevant: list[str] = field(default_factory=list)
    """Queries that were judged with grade 0 alone."""
    unanswerable: list[str] = field(default_factory=list)
    """Queries whose judgements name no document that they may be answered from."""
    judgements: int = 0
    """Judgements that name no such document."""
    candidates: int = 0
    """Candidates that name no document."""
    unlisted: list[str] = field(default_factory=list)
    """Queries without a list of candidates, in a set that has lists: they are asked over the whole of its documents."""
    subsets: dict[str, SubsetCounts] = field(default_factory=dict)
    """The counts of each subset of a set with candidates, as its files have them."""


def document_key(scope: str, id: str) -> bytes:
    """Return a hash that stands for a document of a scope."""
    return blake2b(f"{scope}\0{id}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
