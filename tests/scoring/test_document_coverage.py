"""Coverage: segments that any question retrieves, gold that any ranking reaches."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from recallbench.scoring.document_coverage import AskedSegments, Covered


def test_gold_is_reached_by_a_question_that_it_answers_alone() -> None:
    """The worked example is in docs/definitions.md; here gold comes back for another question, or outside its scope."""
    asked = AskedSegments(["a", "a", "b"], [3, 3, 2], [{0}, set(), {1, 9}])
    assert (asked.segments, asked.gold) == (5, 2)
    (near,) = asked.covered([[1, 2], [0], [0, 1, 5]], [1])
    assert (near.segments, near.gold) == (3, 0)
    (deep,) = asked.covered([[1, 2], [0], [0, 1, 5]], [2])
    assert (deep.segments, deep.segments_share, deep.gold, deep.gold_share) == (5, 1.0, 1, 0.5)


def test_chance_is_what_all_orders_give_on_average_and_no_order_beats_the_ceiling() -> None:
    asked = AskedSegments(["a", "a", "b"], [3, 3, 2], [{0}, {0, 2}, {1}])
    orders = [permutations(range(size)) for size in (3, 3, 2)]
    every = [asked.covered(rankings, [1, 2, 3]) for rankings in product(*orders)]
    for at in zip(*every, strict=True):
        segments, gold = [one.segments / 5 for one in at], [one.gold / 3 for one in at]
        assert at[0].segments_chance == pytest.approx(sum(segments) / len(segments))
        assert at[0].gold_chance == pytest.approx(sum(gold) / len(gold))
        assert at[0].segments_ceiling == max(segments)


def test_questions_that_see_more_and_more_of_their_scope_have_each_its_own_chance() -> None:
    """Of all pairs of orders: the first question sees two of three segments, the second all."""
    asked = AskedSegments(["a", "a"], [2, 3], [{0}, {0, 2}])
    every = [asked.covered(rankings, [1, 2]) for rankings in product(permutations(range(2)), permutations(range(3)))]
    for at in zip(*every, strict=True):
        segments, gold = [one.segments / 3 for one in at], [one.gold / 2 for one in at]
        assert at[0].segments_chance == pytest.approx(sum(segments) / len(segments))
        assert at[0].gold_chance == pytest.approx(sum(gold) / len(gold))
        assert at[0].segments_ceiling == max(segments)


def test_nothing_asked_has_no_share() -> None:
    nothing = Covered(1, 0, None, None, None, 0, None, None)
    assert AskedSegments([], [], []).covered([], [1]) == [nothing]
    assert AskedSegments(["a"], [0], [set()]).covered([[]], [1]) == [nothing]
    (unanswered,) = AskedSegments(["a"], [2], [{1}]).covered([[]], [1])
    assert (unanswered.segments_share, unanswered.gold_share) == (0.0, 0.0)
