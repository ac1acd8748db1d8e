"""What is planted behind a question, and the stores that return it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.embedding.hashing import HashEmbedder
from recallbench.errors import InputError
from recallbench.progress import Silent
from recallbench.retrieval.planted import planted, prove
from recallbench.retrieval.record import Calls
from recallbench.stores.bm25 import BM25Store
from recallbench.stores.exact import ExactStore
from recallbench.stores.store import Hit, Query, Store


def asked(id: str, visible: int) -> Question:
    return Question("s", id, f"what of {id}?", frozenset({0}), "kind", grades={0: 1.0}, visible=visible)


HAYSTACK = Haystack(
    "s",
    tuple(Segment("s", n, f"session {n}", gold_turns=(0,)) for n in range(3)),
    (asked("q0", 2), asked("q1", 0), asked("q2", 3), asked("q3", 2)),
)


def test_what_repeats_a_question_stands_right_behind_what_that_sees() -> None:
    baited = planted(HAYSTACK)
    assert [segment.text for segment in baited.segments] == [
        "what of q1?", "session 0", "session 1", "what of q0?", "what of q3?", "session 2", "what of q2?",
    ]  # fmt: skip
    assert [segment.position for segment in baited.segments] == list(range(7))
    # The first question of two that see the same is not shown what is planted behind the other.
    assert [(question.id, question.visible) for question in baited.questions] == [
        ("q0", 3),
        ("q1", 0),
        ("q2", 6),
        ("q3", 3),
    ]


class OneTooMany(ExactStore):
    """Filters, and takes the first item that it should not for one that it may."""

    name = "one-too-many"

    def search(self, query: Query, k: int) -> list[Hit]:
        (hits,) = self.search_many([query], k)
        return hits

    def search_many(self, queries, k):  # type: ignore[no-untyped-def]
        wider = [
            Query(q.scope, q.text, q.vector, None, range(q.visible.start, q.visible.stop + 1))
            for q in queries
            if q.visible is not None
        ]
        return super().search_many(wider, k)


def proven(store: Store, *, keep_going: bool = False) -> None:
    def haystacks() -> Iterator[Haystack]:
        yield HAYSTACK

    with closing(store):
        prove(haystacks, store, HashEmbedder(), calls=Calls(2, 3), progress=Silent(), keep_going=keep_going)


@pytest.mark.parametrize("kind", [ExactStore, BM25Store])
def test_a_store_that_keeps_to_what_is_visible_passes_filtered_and_replayed(kind: type[Store]) -> None:
    proven(kind())
    replayed = kind()
    replayed.filters_time = False
    proven(replayed)


@pytest.mark.parametrize("keep_going", [False, True])
def test_a_store_that_sees_one_session_too_many_is_named_and_the_run_ends(keep_going: bool) -> None:
    with pytest.raises(
        InputError, match="the store one-too-many returns what was said only after a question"
    ) as caught:
        proven(OneTooMany(), keep_going=keep_going)
    assert caught.value.found == "such a session, or one behind it, for question q0"
