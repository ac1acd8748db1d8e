from recallbench.retrieval import ranking
from recallbench.scoring.matching import distinct, order


def test_scoring_orders_hits_as_the_run_loop_does() -> None:
    hits = [(5, 1.0), (3, 1.0), (5, 2.0), (8, 0.0), (8, 0.0)]
    assert order(hits) == list(ranking.sort_hits(hits)[0]) == [5, 3, 8]


def test_a_repeated_segment_stays_at_its_first_place() -> None:
    assert distinct([3, 1, 3, 2, 1]) == [3, 1, 2]
