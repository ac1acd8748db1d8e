"""Numbers in place of the dataset's ids, which give answers away (LongMemEval gold sessions begin with `answer_`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from recallbench.corpora.records import Haystack, Question
from recallbench.stores.store import Item, Query, Vector


@dataclass(frozen=True, slots=True)
class Place:
    """Where a haystack lies in the store: its scope number, the id of its first item, and its size."""

    scope: int
    first_id: int
    size: int


@dataclass(slots=True)
class OpaqueIds:
    """Hands out scope numbers and item ids in the order of the corpus."""

    places: dict[str, Place] = field(default_factory=dict)
    _next: int = 1

    def admit(self, haystack: Haystack) -> Place:
        """Give a haystack its numbers."""
        place = Place(len(self.places) + 1, self._next, len(haystack.segments))
        self.places[haystack.scope] = place
        self._next += place.size
        return place

    def items(self, haystack: Haystack) -> list[Item]:
        """The haystack's segments as a store may see them."""
        place = self.places[haystack.scope]
        return [
            Item(place.first_id + s.position, place.scope, s.text, s.occurred_at, s.importance)
            for s in haystack.segments
        ]

    def query(self, question: Question, vector: Vector | None) -> Query:
        """The question as a store may see it."""
        return Query(self.places[question.scope].scope, question.text, vector, question.asked_at)
