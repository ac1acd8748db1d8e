from recallbench.retrieval import ranking
from recallbench.scoring.matching import distinct, order


def test_higher_scores_come_first_and_ties_fall_into_haystack_order() -> None:
    assert order([(7, 0.5), (2, 0.5), (9, 0.8), (0, -1.0)]) == [9, 2, 7, 0]


def test_a_repeated_segment_stays_at_its_first_place() -> None:
    assert order([(4, 0.2), (1, 0.9), (4, 0.95), (1, 0.1)]) == [4, 1]
    assert distinct([3, 1, 3, 2, 1]) == [3, 1, 2]


def test_no_hits_are_an_empty_ranking() -> None:
    assert order([]) == []


def test_scoring_and_the_run_loop_order_hits_alike() -> None:
    hits = [(5, 1.0), (3, 1.0), (5, 2.0), (8, 0.0), (8, 0.0)]
    assert order(hits) == list(ranking.sort_hits(hits)[0]) == [5, 3, 8]
