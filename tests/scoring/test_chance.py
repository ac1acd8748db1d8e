"""Chance levels: written-out numbers, then simulation of random orders."""

from fractions import Fraction
from math import comb, log2
from pathlib import Path

import numpy as np
import pytest

from recallbench.scoring.judgement import Judged, judge
from recallbench.scoring.measures.registry import known, parse

SHAPES = [(10, 1, 3), (10, 4, 3), (25, 3, 10), (6, 2, 10), (6, 6, 4), (3, 1, 3), (40, 12, 10), (1, 1, 1), (7, 3, 7)]
"""(N, G, k), with k > N, G > k, k = N and G = N among them."""


def shape(n: int, g: int, depth: int) -> Judged:
    return judge([[]], [set(range(g))], [n], depth)


@pytest.mark.parametrize(("n", "g", "k"), SHAPES)
def test_closed_forms_equal_exact_fractions(n: int, g: int, k: int) -> None:
    judged, drawn = shape(n, g, k), min(k, n)
    exact = {
        "recall_any": 1 - Fraction(comb(n - g, drawn), comb(n, drawn)),
        "recall_frac": Fraction(drawn, n),
        "recall_all": Fraction(comb(n - g, drawn - g), comb(n, drawn)) if g <= drawn else Fraction(0),
        "precision": Fraction(g * drawn, n * k),
        "mrr": sum((Fraction(comb(n - r, g - 1), r * comb(n, g)) for r in range(1, drawn + 1)), Fraction(0)),
    }
    for name, fraction in exact.items():
        assert parse(f"{name}@{k}").chance(judged)[0] == pytest.approx(float(fraction), abs=1e-14), name
    assert parse(f"precision@{k}(retrieved)").chance(judged)[0] == pytest.approx(g / n)
    ideal = sum(1 / log2(r + 1) for r in range(1, min(g, k) + 1))
    reached = sum(1 / log2(r + 1) for r in range(1, drawn + 1))
    assert parse(f"ndcg@{k}").chance(judged)[0] == pytest.approx(g / n * reached / ideal)


def test_chance_written_out() -> None:
    judged = shape(10, 4, 3)
    assert parse("recall_any@3").chance(judged)[0] == pytest.approx(1 - 20 / 120)
    assert parse("recall_frac@3").chance(judged)[0] == pytest.approx(0.3)
    assert parse("recall_all@3").chance(judged)[0] == 0.0
    assert parse("precision@3").chance(judged)[0] == pytest.approx(0.4)
    assert parse("f1@3").chance(judged)[0] == pytest.approx(2 * 1.2 / 7)
    # Of a haystack of 2 no more than 2 come back, whatever k is.
    assert parse("f1@3(retrieved)").chance(shape(2, 1, 3))[0] == pytest.approx(2 * 1 / (1 + 2))
    assert parse("f1@3").chance(shape(2, 1, 3))[0] == pytest.approx(2 * 1 / (1 + 3))
    assert parse("mrr@3").chance(judged)[0] == pytest.approx((84 + 56 / 2 + 35 / 3) / 210)


def test_any_stays_exact_where_factorials_overflow_and_logarithms_cancel() -> None:
    judged = judge([[], []], [{0}, set(range(1000))], [1_000_000, 2_000_000], 100)
    chance = parse("recall_any@100").chance(judged)
    assert chance[0] == pytest.approx(1e-4, rel=1e-10)
    assert chance[1] == pytest.approx(float(1 - Fraction(comb(1_999_000, 100), comb(2_000_000, 100))), rel=1e-12)


def test_graded_ndcg_by_chance_uses_the_mean_grade() -> None:
    judged = judge([[]], [{1}], [8], 3, grades=[{0: 3.0, 1: 1.0, 2: 0.0}])
    discounts = [1.0, 1 / log2(3), 1 / 2]
    expected = (4 / 8) * sum(discounts) / (3 * discounts[0] + 1 * discounts[1])
    assert parse("ndcg@3").chance(judged)[0] == pytest.approx(expected)


def test_a_question_without_gold_has_no_chance() -> None:
    judged = judge([[]], [set()], [8], 3)
    of_gold = [form for form in known() if form != "returned_share@k"]  # any order returns what was asked for
    assert [parse(form.replace("@k", "@3")).chance(judged)[0] for form in of_gold] == [0.0] * len(of_gold)


@pytest.mark.parametrize(("n", "g", "k"), SHAPES)
def test_random_orders_average_to_chance(n: int, g: int, k: int) -> None:
    """Within four standard errors over 4,000 random orders, and not merely within a wide tolerance."""
    draws = 4000
    rng = np.random.default_rng(n * 10_000 + g * 100 + k)
    orders = rng.permuted(np.tile(np.arange(n), (draws, 1)), axis=1)
    gold = frozenset(range(g))
    grades = {i: float(1 + i % 3) for i in range(g)}
    judged = judge(orders.tolist(), [gold] * draws, [n] * draws, k, [grades] * draws)
    for form in known():
        measure = parse(form.replace("@k", f"@{k}"))
        values, chance = measure.values(judged), measure.chance(judged)
        error = values.std(ddof=1) / np.sqrt(draws)
        assert abs(values.mean() - chance.mean()) <= 4 * error + 1e-9, measure
        assert error < 0.01


def test_chance_where_one_of_several_is_enough_written_out() -> None:
    # Two of three segments say it; two places: both of them in 1 of 3 orders, one in 2 of 3.
    judged = judge([[]], [{0, 1}], [3], 2, one_find=[True])
    discounts = 1 + 1 / log2(3)
    chance = {
        "recall_any@1": 2 / 3,
        "recall_frac@1": 2 / 3,
        "recall_all@2": 1.0,
        "precision@2": 2 / 3,
        "mrr@2": 2 / 3 + 1 / 6,
        "f1@2": (2 * 2 / 4 + 2 * 2 * 1 / 3) / 3,
        "ndcg@2": (1 + 2 * discounts / 2) / 3,
    }
    assert {name: parse(name).chance(judged)[0] for name in chance} == pytest.approx(chance)
    assert parse("precision@2").ceiling(judged)[0] == 1.0


@pytest.mark.parametrize(("n", "g", "k"), [(10, 4, 3), (6, 2, 10), (40, 12, 10), (7, 3, 7)])
def test_random_orders_average_to_chance_where_one_is_enough(n: int, g: int, k: int) -> None:
    draws = 4000
    rng = np.random.default_rng(n * 10_000 + g * 100 + k)
    orders = rng.permuted(np.tile(np.arange(n), (draws, 1)), axis=1)
    judged = judge(orders.tolist(), [frozenset(range(g))] * draws, [n] * draws, k + 2, one_find=[True] * draws)
    for form in known():
        measure = parse(form.replace("@k", f"@{k}"))
        values, chance = measure.values(judged), measure.chance(judged)
        error = values.std(ddof=1) / np.sqrt(draws)
        assert abs(values.mean() - chance.mean()) <= 4 * error + 1e-9, measure


@pytest.mark.marked
@pytest.mark.real_data
def test_clarification_8_chance_on_the_real_locomo(locomo_file: Path) -> None:
    from recallbench.corpora.locomo import Locomo
    from recallbench.protocol.frozen import load

    rules = load()
    corpus = Locomo(locomo_file, rules.corpora["locomo"], rules)
    questions = [(q.gold, len(h.segments)) for h in corpus.haystacks() for q in h.questions if q.gold]
    judged = judge([[]] * len(questions), [gold for gold, _ in questions], [size for _, size in questions], 50)
    assert len(judged) == 1982
    assert round(parse("recall_any@10").chance(judged).mean(), 3) == 0.425
    assert round(parse("recall_any@25").chance(judged).mean(), 3) == 0.897
    assert round(parse("precision@10").ceiling(judged).mean(), 2) == 0.13
    assert parse("recall_any@50").saturated(judged).all()
    assert parse("recall_any@10").saturated(judged).sum() == 0
