"""Items that a memory derived: each counts through its source, and k counts sources."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from recallbench.errors import InputError
from recallbench.stores.outside.answer import Contract
from recallbench.stores.outside.class_answer import KnownItems, read_answer
from recallbench.stores.outside.sources import until_too_many
from recallbench.stores.store import Hit, Item, Query

QUESTION = Query(1, "owl", None)
ITEMS = [Item(id, 1, f"session {id}", None, 0.5) for id in (3, 4, 5)]
FOLDED = [Hit(4, 0.9), Hit(3, 0.7)]


def hits(answer: Any, k: int = 2) -> list[Hit]:
    return Contract("`memory`", "mend it").hits(answer, QUESTION, k, {3, 4, 5})


def hits_of_class(answer: Any, *, k: int = 2, cut: bool = False, **ways: Any) -> list[Hit]:
    contract = Contract("`memory`", "mend it")
    known = KnownItems(ITEMS, **{"by_id": True, "by_metadata": False, **ways})
    return contract.hits(read_answer(answer, QUESTION, k, known, contract, cut=cut).entries, QUESTION, k, {3, 4, 5})


def test_a_source_counts_once_at_its_first_place() -> None:
    contract = Contract("`memory`", "mend it")
    answer = [("fact-1", 0.9, 4), ("fact-2", 0.8, 4), ("fact-3", 0.7, 3), ("fact-4", 0.6, 4)]
    assert contract.hits(answer, QUESTION, 2, {3, 4, 5}) == FOLDED
    assert contract.hits([(4, 0.9), ("fact-3", 0.7, 3)], QUESTION, 2, {3, 4, 5}) == FOLDED
    assert contract.hits([(17, 0.9, 4), (4, 0.7, 3)], QUESTION, 2, {3, 4, 5}) == FOLDED  # numbers of its own
    told = "each counts through its source, at its first place; at most 4 for 2 hits"
    assert contract.evidence() == {"derived": told}
    assert Contract("`memory`", "mend it").evidence() == {}


def test_an_item_and_what_was_derived_from_it_are_one_hit_in_either_order() -> None:
    mixed: list[tuple[Any, ...]] = [("fact-1", 0.9, np.int64(4)), (4, 0.8), ("fact-2", 0.8, 4), (3, 0.7)]
    assert hits(mixed) == hits_of_class(mixed) == FOLDED
    # An answer that is walked is read as far as one in a list.
    assert list(until_too_many(iter([*mixed, ("fact-3", 0.6, 3), (5, 0.5), (9, 0.4)]), 2))[4:] == [
        ("fact-3", 0.6, 3),
        (5, 0.5),
    ]
    for read in (hits, hits_of_class):
        with pytest.raises(InputError) as caught:
            read([("fact-1", 0.9, 4), (4, 0.8), (4, 0.7)])
        assert (caught.value.expected, caught.value.found) == ("each id once", "the id 4 twice")


@pytest.mark.parametrize(
    "answer",
    [
        [("f1", 0.9, "4"), ("f2", 0.8, 4), ("f3", 0.7, "3")],
        [{"id": "f1", "score": 0.9, "source": "4"}, {"id": "f3", "score": 0.7, "source": "3"}],
        [({"id": "f1", "source": "4"}, 0.9), ({"id": "f3", "source": "3"}, 0.7)],
        {
            "results": [
                {"memory": "a fact without an id", "score": s, "source": i} for i, s in ((4, 0.9), (4, 0.8), (3, 0.7))
            ]
        },
        [{"id": "f1", "score": 0.9, "source": "4"}, ("3", 0.7)],
    ],
)
def test_hits_of_a_class_name_their_source(answer: object) -> None:
    assert hits_of_class(answer) == FOLDED


def test_facts_with_the_metadata_of_their_source_count_through_it() -> None:
    facts = [{"id": f"fact-{n}", "score": 1 - n / 10, "metadata": {"id": i}} for n, i in enumerate("44343", 1)]
    assert hits_of_class(facts, by_id=False, by_metadata=True) == [Hit(4, 0.9), Hit(3, 0.7)]
    with pytest.raises(InputError, match="broke its contract") as caught:
        hits_of_class([facts[0], facts[0]], by_id=False, by_metadata=True)
    assert caught.value.expected == "each item of its own once"


def test_k_counts_sources() -> None:
    facts: Sequence[tuple[str, float, int]] = [(f"f{n}", 1 - n / 100, 3 + n % 3) for n in range(30)]
    assert [hit.id for hit in hits(facts, 3)] == [3, 4, 5]
    with pytest.raises(InputError) as caught:
        hits(facts, 2)
    assert (caught.value.expected, caught.value.found) == ("at most k = 2 sources", "3 sources")
    with pytest.raises(InputError) as caught:
        hits_of_class(facts, k=2)
    assert (caught.value.expected, caught.value.found) == ("at most k = 2 sources", "3 or more sources")
    with pytest.raises(InputError) as caught:
        hits_of_class(facts[:3], k=2)
    assert caught.value.found == "3 sources"
    # A search that takes no k is cut at the first item of one source too many.
    assert [hit.id for hit in hits_of_class(facts, k=2, cut=True)] == [3, 4]


def test_an_answer_without_end_is_refused() -> None:
    endless = ((f"f{n}", 1.0, 3) for n in itertools.count())
    with pytest.raises(InputError) as caught:
        hits(list(until_too_many(endless, 2)))
    assert caught.value.expected == "at most 1000 items of its own for each of 2 hits"
    assert len(list(until_too_many(((n, 1.0) for n in itertools.count()), 2))) == 3
    assert len(list(until_too_many(((n, 1.0, n) for n in itertools.count()), 2))) == 3


@pytest.mark.parametrize(
    ("answer", "expected", "found"),
    [
        ([("f1", 0.9, 9)], "as source the id of an item it was given for this scope", "the source 9 of 'f1'"),
        ([("f1", 0.9, "4")], "as source the id of an item", "the source '4' of 'f1'"),
        ([("f1", 0.9, True)], "as source the id of an item", "the source True of 'f1'"),
        ([("f1", 0.9, [3, 4])], "as source the id of an item", "the source [3, 4] of 'f1'"),
        ([("f1", 0.9, None)], "as source the id of an item", "the source None of 'f1'"),
        ([("f1", 0.9, 3), ("f1", 0.8, 4)], "each item of its own once", "the id 'f1' twice"),
        (
            [("f1", 0.5, 3), ("f2", 0.9, 3)],
            "hits with the highest score first",
            "the id 'f2' with 0.9 behind the id 'f1' with 0.5",
        ),
        ([("f1", 0.5, 3), ("f2", float("nan"), 3)], "a finite score for each hit", "nan for the id 'f2'"),
        ([(3, 0.9), (3, 0.8)], "each id once", "the id 3 twice"),
    ],
)
def test_what_breaks_the_contract_is_named(answer: object, expected: str, found: str) -> None:
    with pytest.raises(InputError) as caught:
        hits(answer)
    assert caught.value.expected.startswith(expected)
    assert found in caught.value.found


def test_another_meaning_of_source_is_passed_over_for_an_item_that_was_given() -> None:
    assert hits_of_class([{"id": "4", "score": 0.9, "source": "chat"}, {"id": "3", "score": 0.7, "source": 17}]) == [
        Hit(4, 0.9),
        Hit(3, 0.7),
    ]
    # One that names an item is its source still, and the third place of a row has no other meaning.
    assert hits_of_class([{"id": "4", "score": 0.9, "source": "3"}]) == [Hit(3, 0.9)]
    with pytest.raises(InputError) as caught:
        hits_of_class([("4", 0.9, "chat")])
    assert caught.value.found == "the source 'chat' of '4'"


def test_a_source_that_a_class_was_not_given_is_named() -> None:
    with pytest.raises(InputError) as caught:
        hits_of_class([{"id": "f1", "score": 1, "source": "session-9"}])
    assert "ids that `add` was given for this haystack, such as '3'" in caught.value.expected
    assert caught.value.found == "the source 'session-9' of 'f1'"
