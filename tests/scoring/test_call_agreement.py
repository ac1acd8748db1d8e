import pytest

from recallbench.scoring.agreement import Agreement, agreement


def test_identical_lists_and_shared_segments_written_out() -> None:
    """Equal; swapped and longer; half shared; one call empty; both empty."""
    first = [[1, 2, 3], [1, 2], [1, 2], [], []]
    second = [[1, 2, 3, 4, 5], [2, 1, 9], [2, 3], [4], []]
    assert agreement(first, second, depth=3) == Agreement(
        depth=3, n=5, identical=2 / 5, overlap=pytest.approx((3 / 3 + 2 / 3 + 1 / 2 + 0 + 1) / 5)
    )


def test_only_the_first_places_count_and_repetitions_fall_out() -> None:
    ten, fifty = [list(range(10))], [list(range(50))]
    assert agreement(ten, fifty) == Agreement(10, 1, 1.0, 1.0)
    assert agreement([[0, 0, 1]], [[0, 1, 1]]) == Agreement(10, 1, 1.0, 1.0)
    assert agreement([[1, 0]], [[0, 1]], depth=1) == Agreement(1, 1, 0.0, 0.0)


def test_without_questions_there_is_no_agreement() -> None:
    assert agreement([], []) == Agreement(10, 0, None, None)
    with pytest.raises(ValueError, match="1 rankings against 0"):
        agreement([[1]], [])
