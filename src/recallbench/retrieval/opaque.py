"""Numbers in place of the dataset's ids, which give answers away (LongMemEval gold sessions begin with `answer_`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from recallbench.corpora.records import Haystack, Question
from recallbench.stores.store import Item, Query, Vector


@dataclass(frozen=True, slots=True)
class ScopeIds:
    """A haystack's place in the store: its scope number, the id of its first item, and its size."""

    scope: int
    first_id: int
    size: int


@dataclass(slots=True)
class OpaqueIds:
    """Hands out scope numbers and item ids in the order of the corpus."""

    scopes: dict[str, ScopeIds] = field(default_factory=dict)
    _next: int = 1

    def admit(self, haystack: Haystack) -> ScopeIds:
        """Give a haystack its numbers."""
        ids = ScopeIds(len(self.scopes) + 1, self._next, len(haystack.segments))
        self.scopes[haystack.scope] = ids
        self._next += ids.size
        return ids

    def items(self, haystack: Haystack) -> list[Item]:
        """The haystack's segments as a store may see them."""
        ids = self.scopes[haystack.scope]
        return [
            Item(ids.first_id + s.position, ids.scope, s.text, s.occurred_at, s.importance) for s in haystack.segments
        ]

    def query(self, question: Question, vector: Vector | None) -> Query:
        """The question as a store may see it."""
        ids = self.scopes[question.scope]
        visible = None
        if question.visible is not None:
            visible = range(ids.first_id, ids.first_id + question.candidates(ids.size))
        return Query(ids.scope, question.text, vector, question.asked_at, visible)
