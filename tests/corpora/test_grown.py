"""Grown haystacks: own segments keep their place, and nothing is added twice."""

from recallbench.corpora.grown import Distractors
from recallbench.corpora.records import Haystack, Question, Segment


def haystack(scope: str, size: int) -> Haystack:
    segments = tuple(Segment(scope, i, f"{scope}{i}", gold_turns=(0,)) for i in range(size))
    return Haystack(scope, segments, (Question(scope, f"{scope}-q", "?", frozenset({0}), "kind"),))


HAYSTACKS = [haystack("a", 2), haystack("b", 3), haystack("c", 4)]


def test_own_segments_stay_and_others_are_added_once() -> None:
    for old, new in zip(HAYSTACKS, Distractors(HAYSTACKS).grown(2, seed=42), strict=True):
        size = len(old.segments)
        assert new.segments[:size] == old.segments
        assert new.questions == old.questions
        added = new.segments[size:]
        assert len(added) == size
        assert [segment.position for segment in added] == list(range(size, 2 * size))
        assert {segment.scope for segment in added} == {old.scope}
        assert not any(segment.text.startswith(old.scope) for segment in added)
        assert len({segment.text for segment in added}) == size
        assert not any(segment.gold_turns for segment in added)


def test_the_same_seed_gives_the_same_haystacks() -> None:
    first, again = (list(Distractors(HAYSTACKS).grown(2, seed=1)) for _ in range(2))
    other = list(Distractors(HAYSTACKS).grown(2, seed=2))
    assert first == again
    assert first != other


def test_documents_take_the_place_of_neighbours() -> None:
    documents = [Segment("", 0, f"x{i}") for i in range(8)]
    added = [
        s.text for h in Distractors(HAYSTACKS, documents).grown(3, seed=1) for s in h.segments[len(h.segments) // 3 :]
    ]
    assert len(added) == 18
    assert all(text.startswith("x") for text in added)


def test_the_room_to_grow_is_counted_by_hand() -> None:
    assert Distractors(HAYSTACKS).largest_factor() == 2  # the largest has 4 of 9
    assert Distractors(HAYSTACKS[:1]).largest_factor() == 1
    assert Distractors(HAYSTACKS, [Segment("", 0, "x")] * 8).largest_factor() == 3


def test_copies_of_gold_are_recognised_by_their_text() -> None:
    # The gold of a and b has the same text but for line breaks; c alone repeats its own gold.
    texts = {"a": ["Oslo\nis north.", "rain"], "b": ["Oslo is  north.", "sun"], "c": ["rain", "rain"]}
    haystacks = [
        Haystack(
            scope,
            tuple(Segment(scope, i, text) for i, text in enumerate(own_texts)),
            (Question(scope, f"{scope}-q", "?", frozenset({0}), "kind"),),
        )
        for scope, own_texts in texts.items()
    ]
    assert Distractors(haystacks).copies() == {"a": {2}, "b": {0}, "c": {1}}
    documents = [Segment("", 0, text) for text in ("oslo is north.", " Oslo is north.", "rain ")]
    assert Distractors(haystacks, documents).copies() == {"a": {1}, "b": {1}, "c": {2}}


def test_an_answer_to_a_haystacks_question_is_not_added_to_it() -> None:
    pool = Distractors(HAYSTACKS, answers={"a": {2, 8}})
    assert pool.largest_factor() == 2  # a has 5 of 7 left for its 2, and c, of 4, has the 5 others still
    first, second, _ = pool.grown(2, seed=1)
    assert not {"b0", "c3"} & {segment.text for segment in first.segments}
    for seed in range(20):
        texts = {segment.text for segment in next(pool.grown(2, seed)).segments}
        assert not {"b0", "c3"} & texts
    assert len(second.segments) == 6
    documents = [Segment("", 0, f"x{i}") for i in range(8)]
    assert Distractors(HAYSTACKS, documents, {"c": {0}}).largest_factor() == 2  # 7 for the 4 of c
    assert Distractors(HAYSTACKS, documents, {"a": {0, 1, 2, 3, 4, 5}}).largest_factor() == 2
