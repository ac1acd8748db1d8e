"""The order of a ranking, and the answers of a store that are refused."""

import pytest

from recallbench.errors import InputError
from recallbench.retrieval.ranking import rank_hits, sort_hits
from recallbench.stores.store import Hit


def test_score_descends_and_ties_fall_into_haystack_order() -> None:
    assert sort_hits([Hit(7, 0.5), Hit(3, 0.5), Hit(9, 0.9)]) == ((9, 3, 7), (0.9, 0.5, 0.5))
    assert sort_hits([Hit(9, 0.9), Hit(7, 0.5), Hit(3, 0.5)]) == ((9, 3, 7), (0.9, 0.5, 0.5))
    assert sort_hits([Hit(9, 0.9), Hit(3, 0.7), Hit(7, 0.5)]) == ((9, 3, 7), (0.9, 0.7, 0.5))
    assert sort_hits([]) == ((), ())


def test_a_repeated_id_keeps_its_first_place_only() -> None:
    assert sort_hits([Hit(4, 0.1), Hit(2, 0.3), Hit(4, 0.9)]) == ((4, 2), (0.9, 0.3))
    assert sort_hits([Hit(4, 0.9), Hit(2, 0.3), Hit(4, 0.1)]) == ((4, 2), (0.9, 0.3))


def test_ids_become_positions_of_the_scope() -> None:
    ranking = rank_hits("q1", [Hit(12, 0.2), Hit(10, 0.7)], first_id=10, size=5, k=10, store="exact")
    assert ranking.positions == (0, 2)
    assert ranking.scores == (0.7, 0.2)


@pytest.mark.parametrize("id", [9, 15])
def test_an_item_of_another_scope_is_refused_by_name(id: int) -> None:
    with pytest.raises(InputError, match="question q1 with an item of another scope") as caught:
        rank_hits("q1", [Hit(id, 0.2)], first_id=10, size=5, k=10, store="mine")
    assert caught.value.expected == "ids 10 to 14"
    assert caught.value.found == f"id {id}"


def test_an_item_from_the_future_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="mine answered question q1 with an item from its future") as caught:
        rank_hits("q1", [Hit(10, 0.4), Hit(13, 0.2)], first_id=10, size=5, k=10, store="mine", visible=2)
    assert caught.value.expected == "ids 10 to 11: what was there when it was asked"
    assert caught.value.found == "id 13, 2 behind the last of these"
    with pytest.raises(InputError, match="another scope"):
        rank_hits("q1", [Hit(15, 0.2)], first_id=10, size=5, k=10, store="mine", visible=2)


def test_more_than_k_hits_are_refused() -> None:
    with pytest.raises(InputError, match="mine broke its contract") as caught:
        rank_hits("q1", [Hit(10, 0.2), Hit(11, 0.1)], first_id=10, size=5, k=1, store="mine")
    assert caught.value.found == "2 hits"


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_a_score_that_is_no_number_is_refused(score: float) -> None:
    with pytest.raises(InputError, match="scored an item of question q1"):
        rank_hits("q1", [Hit(10, score)], first_id=10, size=5, k=10, store="mine")
