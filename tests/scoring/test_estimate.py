import math

import numpy as np
import pytest

from recallbench.scoring.estimate import Estimate, estimate, estimates
from recallbench.scoring.judgement import judge
from recallbench.scoring.measures.registry import ALL, parse


def test_an_estimate_has_interval_chance_ceiling_and_saturation() -> None:
    judged = judge([[0, 1], [1, 2], [3, 1], [0, 1]], [{0}, {0}, {3}, set()], [4, 4, 2 + 2, 9], depth=2)
    measure = parse("recall_any@2")
    assert estimate(measure, judged) == Estimate(
        measure=measure,
        value=pytest.approx(2 / 3),
        n=3,
        low=pytest.approx(0.207660, abs=1e-6),
        high=pytest.approx(0.938508, abs=1e-6),
        method="Wilson 95%",
        chance=pytest.approx(0.5),
        ceiling=1.0,
        saturated=0.0,
        design_effect=None,
        left_out=1,
    )


def test_questions_without_gold_are_left_out_of_every_mean_and_counted() -> None:
    """Left in, they would drag all of value, chance and ceiling down."""
    with_gold = judge([[0], [1]], [{0}, {0}], [4, 4], depth=1)
    mixed = judge([[0], [2], [1], []], [{0}, set(), {0}, set()], [4, 4, 4, 4], depth=1)
    for text in ("recall_any@1", "recall_frac@1", "precision@1", "ndcg@1", "mrr@1", "f1_of_means@1"):
        clean, left = estimate(parse(text), with_gold), estimate(parse(text), mixed)
        assert (left.value, left.n, left.chance, left.ceiling) == (clean.value, 2, clean.chance, clean.ceiling)
        assert (left.low, left.high, left.method) == (clean.low, clean.high, clean.method)
        assert (clean.left_out, left.left_out) == (0, 2)


def test_a_slice_is_what_its_questions_alone_would_give() -> None:
    rng = np.random.default_rng(8)
    rankings = [rng.permutation(60)[:50].tolist() for _ in range(90)]
    gold = [set(rng.choice(60, rng.integers(0, 5), replace=False).tolist()) for _ in range(90)]
    clusters = [f"c{i % 7}" for i in range(90)]
    kinds = {"all": np.ones(90, dtype=bool), "even": np.arange(90) % 2 == 0, "few": np.arange(90) < 4}
    measures = (*ALL, parse("f1_of_means@10"), parse("precision@10(retrieved)"))
    table = estimates(measures, judge(rankings, gold, [60] * 90, 50), clusters, kinds)
    for name, mask in kinds.items():
        rows = np.flatnonzero(mask)
        alone = judge([rankings[i] for i in rows], [gold[i] for i in rows], [60] * len(rows), 50)
        for own, measure in zip(table[name], measures, strict=True):
            expected = estimate(measure, alone, [clusters[i] for i in rows])
            for field in ("value", "low", "high", "chance", "ceiling", "design_effect"):
                assert getattr(own, field) == pytest.approx(getattr(expected, field), abs=1e-12), (measure, field)
            assert (own.n, own.method, own.left_out) == (expected.n, expected.method, expected.left_out)


def test_an_empty_slice_has_no_value_and_says_why() -> None:
    judged = judge([[0], [1]], [{0}, set()], [4, 4], depth=1)
    for mask, left_out in (([False, False], 0), ([False, True], 1)):
        (any_, mean) = estimates((parse("recall_any@1"), parse("mrr@1")), judged, None, {"none": np.array(mask)})[
            "none"
        ]
        for figure in (any_, mean):
            assert (figure.value, figure.n, figure.low, figure.high, figure.chance, figure.left_out) == (
                None,
                0,
                None,
                None,
                None,
                left_out,
            )
            assert figure.method == "n/a (no question)"


def test_clustered_questions_get_a_t_interval_and_a_design_effect() -> None:
    judged = judge([[0], [0], [1], [1]], [{0}, {0}, {0}, {1}], [4] * 4, depth=1)
    figure = estimate(parse("recall_any@1"), judged, ["a", "a", "b", "b"])
    assert figure.method == "jackknife t(1) 95% over 2 clusters on the logit scale"
    assert figure.design_effect is not None
    assert estimate(parse("recall_any@1"), judged, ["", "", "", ""]).method == "Wilson 95%"


def test_clarification_8_saturation_is_a_share_of_questions() -> None:
    judged = judge([[], [], [], []], [{0}] * 4, [19, 25, 26, 50], depth=50)
    shares = {k: estimate(parse(f"recall_any@{k}"), judged).saturated for k in (10, 19, 25, 50)}
    assert shares == {10: 0.0, 19: 0.25, 25: 0.5, 50: 1.0}
    assert estimate(parse("recall_any@25"), judged).chance == pytest.approx((1 + 1 + 25 / 26 + 0.5) / 4)


def test_clarification_15_each_measure_comes_from_the_shallowest_call_that_reaches_it() -> None:
    """The k=10 call found nothing, the k=50 call found gold at rank 1: a store whose pool depends on k."""
    ten = judge([[1]], [{0}], [60], depth=10)
    fifty = judge([[0]], [{0}], [60], depth=50)
    measures = tuple(parse(text) for text in ("recall_any@5", "recall_any@10", "recall_any@25", "mrr@50"))
    for calls in ([ten, fifty], [fifty, ten]):
        rows = estimates(measures, calls, None, {"all": np.array([True])})["all"]
        assert [row.value for row in rows] == [0.0, 0.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="same questions"):
        estimates(measures, [ten, judge([[0]], [{0, 1}], [60], depth=50)], None, {})


def test_other_than_one_cluster_per_question_is_refused() -> None:
    with pytest.raises(ValueError, match="1 clusters for 2 questions"):
        estimate(parse("recall_any@1"), judge([[0], [1]], [{0}, {0}], [4, 4], depth=1), ["a"])


def test_equal_questions_have_no_interval() -> None:
    judged = judge([[0, 1]] * 6, [{0}] * 6, [2] * 6, depth=2)
    clusters = ["a", "a", "b", "b", "c", "c"]
    figure = estimate(parse("recall_any@2"), judged, clusters)
    assert (figure.value, figure.low, figure.high, figure.saturated) == (1.0, None, None, 1.0)
    assert figure.method == "n/a (all questions equal)"


def test_graded_ndcg_counts_graded_questions_alone() -> None:
    """Each ranking has its gold in second place; only the first two questions have grades, one of them nothing else."""
    grades = [{0: 3.0, 1: 1.0}, {0: 2.0}, {}, {}]
    judged = judge([[1, 0], [1, 0], [1, 0], []], [{0, 1}, {0}, {0}, set()], [4, 4, 4, 4], depth=2, grades=grades)
    second = 1 / math.log2(3)
    first = (1 + 3 * second) / (3 + second)
    names = ("recall_any@1", "ndcg@2", "ndcg@2(graded)")
    figures = estimates([parse(name) for name in names], judged, None, {"all": np.ones(4, dtype=np.bool_)})["all"]
    assert [figure.n for figure in figures] == [3, 3, 2]
    assert [figure.left_out for figure in figures] == [1, 1, 2]
    assert figures[1].value == pytest.approx((first + second + second) / 3)
    assert figures[2].value == pytest.approx((first + second) / 2)
    assert figures[2].ceiling == 1.0
    # A measure's figures do not depend on the other measures.
    assert figures[0] == estimate(parse("recall_any@1"), judged)
    assert figures[2] == estimate(parse("ndcg@2(graded)"), judged)


def test_ndcg_over_no_graded_question_has_no_value() -> None:
    judged = judge([[0]], [{0}], [4], depth=1)
    figure = estimate(parse("ndcg@1(graded)"), judged)
    assert (figure.value, figure.n, figure.left_out, figure.low) == (None, 0, 1, None)
