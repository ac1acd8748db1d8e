"""More hay: what was there keeps its place, and nothing comes twice."""

from recallbench.corpora.grown import grown, room
from recallbench.corpora.records import Haystack, Question, Segment


def haystack(scope: str, size: int) -> Haystack:
    segments = tuple(Segment(scope, i, f"{scope}{i}", gold_turns=(0,)) for i in range(size))
    return Haystack(scope, segments, (Question(scope, f"{scope}-q", "?", frozenset({0}), "kind"),))


HAYSTACKS = [haystack("a", 2), haystack("b", 3), haystack("c", 4)]


def test_own_segments_stay_and_others_are_added_once() -> None:
    for old, new in zip(HAYSTACKS, grown(HAYSTACKS, 2, (), seed=42), strict=True):
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


def test_the_seed_decides_and_nothing_else() -> None:
    one, again = (list(grown(HAYSTACKS, 2, (), seed=1)) for _ in range(2))
    other = list(grown(HAYSTACKS, 2, (), seed=2))
    assert one == again
    assert one != other


def test_strangers_take_the_place_of_neighbours() -> None:
    strangers = [Segment("", 0, f"x{i}") for i in range(8)]
    added = [s.text for h in grown(HAYSTACKS, 3, strangers, seed=1) for s in h.segments[len(h.segments) // 3 :]]
    assert len(added) == 18
    assert all(text.startswith("x") for text in added)


def test_there_is_room_for_so_much() -> None:
    assert room(HAYSTACKS, ()) == 2  # the largest has 4 of 9
    assert room(HAYSTACKS[:1], ()) == 1
    assert room(HAYSTACKS, [Segment("", 0, "x")] * 8) == 3
