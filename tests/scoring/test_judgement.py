import math
import tracemalloc

import numpy as np
import pytest

from recallbench.errors import InputError, UsageError
from recallbench.scoring.judgement import Judged, judge
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.ndcg import Ndcg
from recallbench.scoring.measures.recall_any import RecallAny
from recallbench.scoring.measures.registry import parse


def places(judged: Judged, what: str) -> list[tuple[int, int, float]]:
    """Question, place and grade of each, in order."""
    entries = getattr(judged, what)
    return list(zip(entries.question.tolist(), entries.place.tolist(), entries.grade.tolist(), strict=True))


def test_rankings_become_places() -> None:
    judged = judge([[4, 2], [], [0, 1, 2, 3]], [{2}, {0, 1}, {3, 9}], [5, 6, 10], depth=3)
    assert places(judged, "relevant") == places(judged, "graded") == [(0, 1, 1)]
    assert judged.first.tolist() == [2, 0, 0]
    assert judged.returned.tolist() == [2, 0, 3]
    assert judged.gold.tolist() == [1, 2, 2]
    assert judged.candidates.tolist() == [5, 6, 10]
    assert places(judged, "ideal") == [(0, 0, 1), (1, 0, 1), (1, 1, 1), (2, 0, 1), (2, 1, 1)]
    assert judged.total_grade.tolist() == [1, 2, 2]
    assert len(judged) == 3


def test_clarification_6_a_repeated_segment_counts_once_and_moves_the_rest_up() -> None:
    judged = judge([[7, 7, 3, 7, 5]], [{3, 5, 7}], [20], depth=3)
    assert places(judged, "relevant") == [(0, 0, 1), (0, 1, 1), (0, 2, 1)]
    assert judged.returned.tolist() == [3]
    assert judged.gold_within(3).tolist() == [3]
    gold_twice = judge([[3, 3, 3]], [{3, 4}], [20], depth=3)
    assert gold_twice.gold_within(3).tolist() == [1]
    late = judge([[9, 9, 9, 3]], [{3}], [20], depth=4)
    assert Mrr(4).values(late).tolist() == [0.5]


def test_gold_named_twice_is_one_segment() -> None:
    assert judge([[1]], [[1, 1]], [4], depth=2).gold.tolist() == [1]


def test_a_cut_off_judgement_is_the_judgement_of_the_cut_off_ranking() -> None:
    rankings, gold = [[4, 2, 2, 0, 1], [3], []], [{0, 1}, {3}, {2}]
    cut, direct = judge(rankings, gold, [5, 5, 5], depth=5).at(3), judge(rankings, gold, [5, 5, 5], depth=3)
    for field in ("depth", "returned", "gold", "answering", "candidates", "total_grade", "first"):
        assert np.array_equal(getattr(cut, field), getattr(direct, field)), field
    for field in ("relevant", "graded", "ideal"):
        assert places(cut, field) == places(direct, field), field


def test_of_gold_that_says_one_thing_the_first_hit_counts_and_the_ideal_is_what_came_back() -> None:
    rankings, gold = [[0, 4, 1], [4, 0, 3], [4, 3, 2]], [{0, 1, 2}, {0, 1}, {0}]
    judged = judge(rankings, gold, [5, 5, 5], 3, one_find=[True, True, True])
    assert (judged.gold.tolist(), judged.answering.tolist()) == ([1, 1, 1], [3, 2, 1])
    second, third = 1 / math.log2(3), 1 / 2
    # At 1 and 3 over two on top, at 2 over one on top, nowhere.
    assert Ndcg(3).values(judged).tolist() == pytest.approx([(1 + third) / (1 + second), second, 0.0])
    mixed = judge(rankings, gold, [5, 5, 5], 3, [{0: 2.0, 1: 1.0, 2: 1.0}, {}, {}], [False, True, False])
    assert (mixed.gold.tolist(), mixed.answering.tolist()) == ([3, 1, 1], [3, 2, 1])
    assert Ndcg(3).values(mixed).tolist() == pytest.approx([(2 + third) / (2 + second + third), second, 0.0])
    others = judge(rankings, [{0}, set(), set()], [9, 9, 9], 3, one_find=[True] * 3, unseen=[3, 3, 0])
    assert (others.gold.tolist(), others.answering.tolist()) == ([1, 1, 0], [4, 3, 0])
    assert Ndcg(3).values(others).tolist() == [1.0, 0.0, 0.0]


def test_ranks_below_k_change_no_ndcg_at_k() -> None:
    ranking, gold = [0, 5, 6, 1, 2], {0, 1, 2}
    at_2 = [Ndcg(2).values(judge([ranking], [gold], [7], depth, one_find=[True]))[0] for depth in (2, 4, 5)]
    assert at_2 == [1.0, 1.0, 1.0]


def test_a_mask_selects_questions() -> None:
    judged = judge([[0], [1], [2]], [{0}, {0}, {2}], [3, 4, 5], depth=1)
    chosen = judged.select([True, False, True])
    assert chosen.candidates.tolist() == [3, 5]
    assert RecallAny(1).values(chosen).tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="mask"):
        judged.select([True])


def test_gold_does_not_follow_from_grades() -> None:
    judged = judge([[5, 6, 7]], [{7}], [9], depth=3, grades=[{5: 3.0, 7: 1.0, 8: 2.0}])
    assert places(judged, "relevant") == [(0, 2, 1)]
    assert places(judged, "graded") == [(0, 0, 3.0), (0, 2, 1.0)]
    assert judged.gold.tolist() == [1]
    assert places(judged, "ideal") == [(0, 0, 3.0), (0, 1, 2.0), (0, 2, 1.0)]
    assert judged.total_grade.tolist() == [6.0]


def test_a_question_without_grades_among_graded_ones_counts_1_per_gold_segment() -> None:
    judged = judge([[1, 0], [1, 0]], [{0}, {0, 1, 3}], [4, 4], depth=2, grades=[{1: 0.5}, {}])
    assert places(judged, "graded") == places(judged, "ideal") == [(0, 0, 0.5), (1, 0, 1.0), (1, 1, 1.0)]
    assert judged.total_grade.tolist() == [0.5, 3.0]


def test_grades_as_gold_are_refused() -> None:
    with pytest.raises(TypeError, match="grades"):
        judge([[0]], [{0: 1.0}], [2], depth=1)


def test_blocks_of_any_size_give_the_same_places(monkeypatch: pytest.MonkeyPatch) -> None:
    rankings, gold = [[3, 1, 2], [], [0, 2, 0, 4], [1]], [{1, 2, 4}, {0}, {0, 1, 4}, {1}]
    expected = [(0, 1, 1), (0, 2, 1), (2, 0, 1), (2, 2, 1), (3, 0, 1)]
    for cells in (1, 2, 4, 8, 1 << 22):
        monkeypatch.setattr("recallbench.scoring.judgement._CELLS", cells)
        judged = judge(rankings, gold, [5, 5, 5, 5], depth=4)
        assert places(judged, "relevant") == expected
        assert judged.returned.tolist() == [3, 0, 3, 1]


def test_a_stray_position_is_named_by_its_question_in_any_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recallbench.scoring.judgement._CELLS", 1)
    with pytest.raises(InputError, match="index 2 names a segment outside"):
        judge([[0], [1], [5]], [{0}, {0}, {0}], [3, 3, 3], depth=1)


def test_memory_depends_on_the_hits_and_not_on_the_depth() -> None:
    """2,000 rankings 10 deep and one of 10,000: dense arrays to depth 10,000 took 260 MB for these alone."""
    questions, longest = 2000, list(range(10_000))
    rankings = [longest, *(longest[:10] for _ in range(questions))]
    gold, sizes = [frozenset({9}) for _ in rankings], [10_000 for _ in rankings]
    tracemalloc.start()
    judged = judge(rankings, gold, sizes, depth=10_000)
    values = [parse(f"{name}@10000").values(judged) for name in ("recall_frac", "precision", "f1", "ndcg", "mrr")]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 80e6
    assert [value[-1] for value in values] == pytest.approx([1, 1e-4, 2 / 10_001, 1 / math.log2(11), 0.1])


@pytest.mark.parametrize(
    ("rankings", "gold", "candidates", "grades", "message"),
    [
        ([[0], [-1]], [{0}, {0}], [2, 2], None, "ranking of the question at index 1 names a segment outside"),
        ([[0], [1]], [{0}, {-1}], [2, 2], None, "gold of the question at index 1 names a segment outside"),
        ([[0], [2**40]], [{0}, {0}], [2, 2], None, "ranking of the question at index 1 names a segment outside"),
        ([[1], [2]], [{0}, {0}], [3, 2], None, "ranking of the question at index 1 names a segment outside"),
        ([[0]], [{0, 2}], [2], None, "gold of the question at index 0 names a segment outside"),
        ([[0]], [{0}], [2], [{2: 1.0}], "grades of the question at index 0 names a segment outside"),
        ([[0]], [{0}], [0], None, "index 0 names a segment outside"),
        ([[0]], [{0}], [2], [{0: float("nan")}], "index 0 has an invalid grade"),
        ([[0]], [{0}], [2], [{0: -1.0}], "index 0 has an invalid grade"),
        ([[0]], [{0}], [2], [{0: float("inf")}], "index 0 has an invalid grade"),
    ],
)
def test_contradictory_input_is_refused(rankings, gold, candidates, grades, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=message):
        judge(rankings, gold, candidates, 5, grades)


def test_unequal_lengths_and_a_depth_of_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="2 rankings but 1 entries of gold"):
        judge([[0], [1]], [{0}], [2, 2], depth=1)
    with pytest.raises(UsageError, match="depth"):
        judge([[0]], [{0}], [2], depth=0)


def test_a_measure_deeper_than_the_rankings_is_refused() -> None:
    with pytest.raises(UsageError, match="depth 11"):
        RecallAny(11).values(judge([[0]], [{0}], [20], depth=10))


def test_judging_no_questions_is_no_error() -> None:
    judged = judge([], [], [], depth=4)
    assert len(judged) == 0
    assert RecallAny(4).values(judged).shape == (0,)
