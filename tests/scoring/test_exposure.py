import pytest

from recallbench.scoring.exposure import exposure


def test_clarification_9_shares_of_segments_and_gold_turns() -> None:
    """A turn that starts at the cut was not seen; one that starts before it was, at least in part."""
    figures = exposure([True, False, True, True], [0, 99, 100, 101, 5], [100, 100, 100, 100, 3000])
    assert (figures.segments, figures.truncated, figures.gold_turns, figures.cut_off) == (4, 3, 5, 2)
    assert (figures.truncated_share, figures.cut_off_share) == (0.75, 0.4)


def test_a_corpus_without_labelled_turns_has_no_share_of_them() -> None:
    figures = exposure([False], [], [])
    assert (figures.truncated_share, figures.cut_off_share) == (0.0, None)
    assert exposure([], [], []).truncated_share is None


def test_a_turn_without_a_cut_is_refused() -> None:
    with pytest.raises(ValueError, match="2 gold turns but 1 cuts"):
        exposure([True], [1, 2], [3])
