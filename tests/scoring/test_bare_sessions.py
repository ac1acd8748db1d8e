"""Figures by bare session names, as old baselines had them, written out."""

from recallbench.scoring.bare_sessions import judge_by_session
from recallbench.scoring.measures.registry import parse


def recall(returned: list[list[str]], gold: list[set[str]]) -> list[float]:
    return parse("recall_frac@10").values(judge_by_session(returned, gold, 50)).tolist()


def reciprocal(returned: list[list[str]], gold: list[set[str]]) -> list[float]:
    return parse("mrr@50").values(judge_by_session(returned, gold, 50)).tolist()


def test_a_name_is_a_hit_wherever_it_comes_from() -> None:
    assert recall([["D3", "D7"]], [{"D7"}]) == [1.0]
    assert reciprocal([["D3", "D7"]], [{"D7"}]) == [0.5]


def test_a_gold_name_counts_once_and_its_repetition_keeps_its_place() -> None:
    returned = [["D1", "D1", "D1", "D2"]]
    assert recall(returned, [{"D1", "D2", "D3", "D4"}]) == [0.5]
    # One name takes ten places, so the other gold name is eleventh.
    crowded = [["D1"] * 10 + ["D2"]]
    assert recall(crowded, [{"D1", "D2"}]) == [0.5]
    assert reciprocal([["D9"] * 10 + ["D2"]], [{"D2"}]) == [1 / 11]


def test_recall_is_the_share_of_gold_names() -> None:
    assert recall([["D1", "D5"], ["D2"]], [{"D1", "D2", "D3"}, {"D2"}]) == [1 / 3, 1.0]


def test_gold_without_a_segment_still_counts() -> None:
    assert recall([["D1"]], [{"D1", "D"}]) == [0.5]


def test_an_empty_ranking_scores_0() -> None:
    assert recall([[]], [{"D1"}]) == [0.0]
    assert reciprocal([[]], [{"D1"}]) == [0.0]


def test_beyond_the_depth_nothing_counts() -> None:
    assert reciprocal([[f"x{i}" for i in range(50)] + ["D1"]], [{"D1"}]) == [0.0]
    assert reciprocal([[f"x{i}" for i in range(49)] + ["D1"]], [{"D1"}]) == [0.02]
