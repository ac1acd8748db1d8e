"""A question as a store is asked it, and the haystack that its hits are places in."""

from __future__ import annotations

from dataclasses import dataclass

from recallbench.corpora.records import Haystack, Question
from recallbench.retrieval.opaque import OpaqueIds, ScopeIds
from recallbench.stores.store import Matrix, Query


@dataclass(frozen=True, slots=True)
class Request:
    """A question, as a store is asked it."""

    question: Question
    query: Query
    scope: ScopeIds

    @property
    def candidates(self) -> int:
        """The number of segments, the first of its scope, that it may be answered from."""
        return self.question.candidates(self.scope.size)


def requests_of(haystack: Haystack, ids: OpaqueIds, vectors: Matrix | None) -> list[Request]:
    """Return the requests for the questions of an admitted haystack; row i of `vectors` belongs to question i."""
    scope = ids.scopes[haystack.scope]
    return [
        Request(question, ids.query(question, None if vectors is None else vectors[i]), scope)
        for i, question in enumerate(haystack.questions)
    ]
