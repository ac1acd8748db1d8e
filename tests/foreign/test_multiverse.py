"""Every definition over tiny rankings, with the expected figures written out, and the bounds of what was cut off."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from recallbench.foreign.universes import (
    FOUND,
    LONGMEMEVAL,
    Definition,
    Denominator,
    View,
    agrees,
    bounds,
    cells,
    definitions,
    printed_decimals,
    view,
)

RANKED = [["x", "a", "b"], ["c", "y", "z"], ["x", "y", "z"]]
GOLD = [["a", "b"], ["c"], ["d", "e"]]


def spread(definition: Definition, rankings: View) -> list[tuple[float, float]]:
    low, high = bounds(definition, rankings)
    return [(round(a, 6), round(b, 6)) for a, b in zip(low.tolist(), high.tolist(), strict=True)]


LOG = 1 / math.log2(3)


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        (Definition("recall_any", 2), [1, 1, 0]),
        (Definition("recall_frac", 2), [0.5, 1, 0]),
        (Definition("recall_all", 2), [0, 1, 0]),
        (Definition("recall_all", 3), [1, 1, 0]),
        (Definition("precision", 5), [0.4, 0.2, 0]),
        (Definition("mrr", 50), [0.5, 1, 0]),
        (Definition("mrr", 1), [0, 1, 0]),
        (Definition("ndcg", 2), [LOG / (1 + LOG), 1, 0]),
        # The second place counts as much as the first: 1 of an ideal 1 + 1.
        (Definition("ndcg", 2, LONGMEMEVAL), [0.5, 1, 0]),
        # (1/log2(2) + 1/log2(3)) of an ideal 1 + 1.
        (Definition("ndcg", 3, LONGMEMEVAL), [(1 + LOG) / 2, 1, 0]),
        # One of two was found, at the second place: the best order of that one is 1.
        (Definition("ndcg", 2, FOUND), [LOG, 1, 0]),
        # Both were found, at the second and third place, of an ideal 1 + 1/log2(3).
        (Definition("ndcg", 3, FOUND), [(LOG + 0.5) / (1 + LOG), 1, 0]),
    ],
)
def test_complete_rankings_have_an_exact_figure(definition: Definition, expected: list[float]) -> None:
    assert spread(definition, view("own", RANKED, GOLD)) == [(round(value, 6), round(value, 6)) for value in expected]


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        (Definition("recall_any", 3), [(1, 1), (1, 1), (0, 0)]),
        (Definition("recall_any", 5), [(1, 1), (1, 1), (0, 1)]),
        (Definition("recall_frac", 4), [(1, 1), (1, 1), (0, 0.5)]),
        (Definition("recall_frac", 5), [(1, 1), (1, 1), (0, 1)]),
        (Definition("recall_all", 4), [(1, 1), (1, 1), (0, 0)]),
        (Definition("mrr", 50), [(0.5, 0.5), (1, 1), (0, 0.25)]),
        (Definition("precision", 4), [(0.5, 0.5), (0.25, 0.25), (0, 0.25)]),
        (Definition("ndcg", 4, FOUND), [((LOG + 0.5) / (1 + LOG),) * 2, (1, 1), (0, 1)]),
    ],
)
def test_cut_rankings_have_bounds(definition: Definition, expected: list[tuple[float, float]]) -> None:
    rounded = [(round(low, 6), round(high, 6)) for low, high in expected]
    assert spread(definition, view("own", RANKED, GOLD, row_depth=3)) == rounded


def test_a_short_ranking_ended_by_itself() -> None:
    assert spread(Definition("recall_any", 50), view("own", [["x"]], [["a"]], row_depth=3)) == [(0, 0)]


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        (Definition("mrr", 50), [(1 / 7, 1 / 7), (0, 1 / 8)]),
        (Definition("mrr", 7), [(1 / 7, 1 / 7), (0, 0)]),
        (Definition("mrr", 6), [(0, 0), (0, 0)]),
        (Definition("recall_any", 10), [(1, 1), (0, 1)]),
        (Definition("recall_frac", 7), [(0.5, 0.5), (0, 0)]),
        (Definition("recall_frac", 8), [(0.5, 1), (0, 0.5)]),
        (Definition("recall_frac", 9), [(0.5, 1), (0, 1)]),
    ],
)
def test_stated_first_ranks_narrow_the_bounds(definition: Definition, expected: list[tuple[float, float]]) -> None:
    """The first is stated at 7; the second has none down to 7, the deepest rank that anyone states."""
    rankings = view("bare", [["x", "y"], ["x", "y"]], [["a", "b"], ["a", "b"]], row_depth=2, first=[7, 0])
    assert spread(definition, rankings) == [(round(a, 6), round(b, 6)) for a, b in expected]


def test_a_row_that_states_no_rank_is_bounded_by_its_ids_alone() -> None:
    rankings = view("bare", [["x", "y"], ["x", "y"]], [["a"], ["a"]], row_depth=2, first=[7, None])
    assert spread(Definition("recall_any", 10), rankings) == [(1, 1), (0, 1)]


def test_of_two_calls_the_shallower_gives_the_measures_that_it_reaches() -> None:
    deep, shallow = view("own", [["x", "a"]], [["a"]]), view("own", [["a", "x"]], [["a"]])
    both = replace(deep, call=shallow, reach=1)
    assert spread(Definition("recall_any", 1), both) == [(1, 1)]
    assert spread(Definition("mrr", 50), both) == [(0.5, 0.5)]


def test_bounds_contain_the_figure_of_the_complete_ranking() -> None:
    generator = np.random.default_rng(7)
    for _ in range(200):
        names = [str(i) for i in generator.permutation(12)]
        gold = [str(i) for i in generator.choice(12, size=int(generator.integers(1, 5)), replace=False)]
        first = next(rank for rank, name in enumerate(names, start=1) if name in gold)
        depth = int(generator.integers(1, 12))
        for definition in definitions((1, 3, 5, 10)):
            (exact,), _ = bounds(definition, view("own", [names], [gold]))
            for stated in (None, [first]):
                (low,), (high,) = bounds(definition, view("own", [names[:depth]], [gold], depth, stated))
                assert low - 1e-12 <= exact <= high + 1e-12, (definition, names, gold, depth, stated)


def test_denominators_decide_the_mean_and_its_n() -> None:
    rankings = view("own", [["a"], ["x"], ["x"]], [["a"], ["b"], []])
    everyone = np.ones(3, dtype=np.bool_)
    table = cells(
        [rankings],
        [Definition("recall_any", 1)],
        [
            Denominator("with gold", everyone, protocol=True),
            Denominator("all", everyone, empty=0.0),
            Denominator("all", everyone, empty=1.0),
            Denominator("all 5", everyone, absent=2, empty=1.0),
            Denominator("nobody", ~everyone),
        ],
    )
    assert [(cell.denominator, cell.n, round(cell.low, 4)) for cell in table] == [
        ("with gold", 2, 0.5),
        ("all, 0 for those without gold", 3, 0.3333),
        ("all, 1 for those without gold", 3, 0.6667),
        ("all 5, 1 for those without gold", 5, 0.8),
    ]


def test_a_cell_says_that_it_rests_on_stated_ranks() -> None:
    everyone = [Denominator("all", np.ones(1, dtype=np.bool_))]
    listed = view("bare", [["x", "a"]], [["a"]], row_depth=2, first=[2])
    deeper = view("bare", [["x", "y"]], [["a"]], row_depth=2, first=[4])
    (of_listed,), (of_deeper,) = (cells([each], [Definition("mrr", 50)], everyone) for each in (listed, deeper))
    assert (of_listed.exact, of_listed.stated) == (True, False)
    assert (of_deeper.exact, of_deeper.stated, of_deeper.low) == (True, True, 0.25)
    assert (of_deeper.listed_low, round(of_deeper.listed_high, 4)) == (0.0, 0.3333)


def test_printed_precision() -> None:
    assert [printed_decimals(value) for value in (0.795, 0.9, 1.0, 0.12345)] == [3, 1, 1, 5]
    assert agrees(0.79515, 0.795, 3)
    assert agrees(0.79515, 0.7951, 4)
    assert agrees(0.79515, 0.7952, 4), "half of the last digit, rounded either way"
    assert not agrees(0.79515, 0.7953, 4)
