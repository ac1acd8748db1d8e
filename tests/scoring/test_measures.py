"""The full matrix: what each measure gives for rankings that are whole, short, empty, repeated or deep."""

import math

import pytest

from recallbench.scoring.judgement import judge
from recallbench.scoring.measures.registry import ALL, MEASURES, parse

CASES = {
    #            ranking             gold           N
    "first": ([3, 0, 1, 2, 4], {3}, 5),
    "third": ([0, 1, 3, 2, 4], {3}, 5),
    "two of three": ([3, 0, 2, 1], {2, 3, 9}, 10),
    "all three": ([2, 3, 9, 0], {2, 3, 9}, 10),
    "missed": ([0, 1, 2], {8}, 10),
    "empty": ([], {0}, 10),
    "short": ([5, 4], {4}, 10),
    "repeated": ([0, 0, 0, 6], {6}, 10),
    "many gold": ([1, 2, 3], {0, 1, 2, 3, 4, 5}, 10),
    "small haystack": ([1, 0], {0, 1}, 2),
    "no gold": ([0, 1, 2], set(), 10),
}

LOG3, LOG4 = math.log2(3), math.log2(4)
THREE = 1 + 1 / LOG3 + 1 / LOG4

EXPECTED = {
    "recall_any@1": [1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0],
    "recall_any@3": [1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0],
    "recall_frac@1": [1, 0, 1 / 3, 1 / 3, 0, 0, 0, 0, 1 / 6, 1 / 2, 0],
    "recall_frac@3": [1, 1, 2 / 3, 1, 0, 0, 1, 1, 1 / 2, 1, 0],
    "recall_all@1": [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    "recall_all@3": [1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0],
    "precision@3": [1 / 3, 1 / 3, 2 / 3, 1, 0, 0, 1 / 3, 1 / 3, 1, 2 / 3, 0],
    "precision@3(retrieved)": [1 / 3, 1 / 3, 2 / 3, 1, 0, 0, 1 / 2, 1 / 2, 1, 1, 0],
    "f1@3": [1 / 2, 1 / 2, 2 / 3, 1, 0, 0, 1 / 2, 1 / 2, 2 / 3, 4 / 5, 0],
    "f1@3(retrieved)": [1 / 2, 1 / 2, 2 / 3, 1, 0, 0, 2 / 3, 2 / 3, 2 / 3, 1, 0],
    "mrr@3": [1, 1 / 3, 1, 1, 0, 0, 1 / 2, 1 / 2, 1, 1, 0],
    "mrr@2": [1, 0, 1, 1, 0, 0, 1 / 2, 1 / 2, 1, 1, 0],
    "ndcg@3": [1, 1 / LOG4, (1 + 1 / LOG4) / THREE, 1, 0, 0, 1 / LOG3, 1 / LOG3, 1, 1, 0],
    "returned_share@3": [1, 1, 1, 1, 1, 0, 2 / 3, 2 / 3, 1, 1, 1],
    "returned_share@5": [1, 1, 4 / 5, 4 / 5, 3 / 5, 0, 2 / 5, 2 / 5, 3 / 5, 1, 3 / 5],
}

CEILINGS = {
    "recall_any@3": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0],
    "recall_frac@3": [1, 1, 1, 1, 1, 1, 1, 1, 1 / 2, 1, 0],
    "recall_all@3": [1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0],
    "precision@3": [1 / 3, 1 / 3, 1, 1, 1 / 3, 1 / 3, 1 / 3, 1 / 3, 1, 2 / 3, 0],
    "precision@3(retrieved)": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0],
    "f1@3": [1 / 2, 1 / 2, 1, 1, 1 / 2, 1 / 2, 1 / 2, 1 / 2, 2 / 3, 4 / 5, 0],
    "f1@3(retrieved)": [1, 1, 1, 1, 1, 1, 1, 1, 2 / 3, 1, 0],
    "mrr@3": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0],
    "ndcg@3": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0],
    "returned_share@3": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
}

RANKINGS, GOLD, SIZES = zip(*CASES.values(), strict=True)


@pytest.mark.parametrize("text", EXPECTED)
def test_values_of_the_matrix(text: str) -> None:
    judged = judge(RANKINGS, GOLD, SIZES, depth=5)
    assert dict(zip(CASES, parse(text).values(judged), strict=True)) == pytest.approx(
        dict(zip(CASES, EXPECTED[text], strict=True)), abs=1e-12
    )


@pytest.mark.parametrize("text", CEILINGS)
def test_ceilings_of_the_matrix(text: str) -> None:
    judged = judge(RANKINGS, GOLD, SIZES, depth=5)
    assert dict(zip(CASES, parse(text).ceiling(judged), strict=True)) == pytest.approx(
        dict(zip(CASES, CEILINGS[text], strict=True)), abs=1e-12
    )


def test_every_measure_is_in_the_matrix() -> None:
    assert {text.split("@")[0] for text in EXPECTED} == MEASURES.keys() - {"f1_of_means"}


def test_clarification_1_three_recalls_that_cannot_be_confused() -> None:
    """One question, two gold segments, one of them found: three different answers to "the recall"."""
    judged = judge([[0, 5, 6]], [{0, 1}], [10], depth=3)
    values = {text: parse(text).values(judged)[0] for text in ("recall_any@3", "recall_frac@3", "recall_all@3")}
    assert values == {"recall_any@3": 1.0, "recall_frac@3": 0.5, "recall_all@3": 0.0}
    assert {"recall_any@10", "recall_frac@10", "recall_all@10"} <= {str(measure) for measure in ALL}


def test_graded_ndcg_has_linear_gain_and_an_ideal_from_the_grades() -> None:
    judged = judge([[5, 6, 7]], [{7}], [9], depth=3, grades=[{5: 1.0, 7: 3.0, 8: 2.0}])
    ideal = 3 + 2 / LOG3 + 1 / LOG4
    assert parse("ndcg@3").values(judged)[0] == pytest.approx((1 + 3 / LOG4) / ideal)
    assert parse("ndcg@1").values(judged)[0] == pytest.approx(1 / 3)
    assert parse("recall_any@2").values(judged)[0] == 0.0


def test_grades_that_are_all_0_give_an_ndcg_of_0() -> None:
    judged = judge([[5]], [{5}], [9], depth=1, grades=[{5: 0.0}])
    measure = parse("ndcg@1")
    assert [measure.values(judged)[0], measure.ceiling(judged)[0], measure.chance(judged)[0]] == [0.0, 0.0, 0.0]


def test_f1_of_means_takes_means_first() -> None:
    """precision@2 is 1/2 and 0, recall_frac@2 is 1 and 0; means 1/4 and 1/2; harmonic mean 1/3."""
    judged = judge([[0, 1], [2, 3]], [{0}, {5, 6}], [10, 10], depth=2)
    assert parse("f1_of_means@2").values(judged).mean() == pytest.approx(1 / 3)
    assert parse("f1@2").values(judged).mean() == pytest.approx(1 / 3)  # 2/3 and 0: equal here by chance
    uneven = judge([[0, 1], [2, 3]], [{0}, {2, 3, 4, 5}], [10, 10], depth=2)
    # precision 1/2 and 1, recall 1 and 1/2; of means: 3/4; mean of f1: 2/3 and 2/3
    assert parse("f1_of_means@2").values(uneven).mean() == pytest.approx(3 / 4)
    assert parse("f1@2").values(uneven).mean() == pytest.approx(2 / 3)


def test_f1_of_means_leaves_questions_without_gold_out() -> None:
    judged = judge([[0, 1], [2, 3]], [{0}, set()], [10, 10], depth=2)
    assert parse("f1_of_means@2").values(judged).tolist() == pytest.approx([2 / 3, 0.0])


def test_f1_of_means_without_a_hit_is_0() -> None:
    judged = judge([[1], []], [{0}, {0}], [10, 10], depth=2)
    assert parse("f1_of_means@2").values(judged).tolist() == [0.0, 0.0]


def test_clarification_8_saturated_where_k_reaches_the_haystack() -> None:
    judged = judge([[], [], []], [{0}, {0}, {0}], [9, 10, 11], depth=50)
    assert parse("recall_any@10").saturated(judged).tolist() == [True, True, False]
    assert parse("recall_frac@50").saturated(judged).tolist() == [True, True, True]
    assert parse("recall_all@9").saturated(judged).tolist() == [True, False, False]
    assert [str(measure) for measure in ALL if measure.ordered] == ["ndcg@10", "mrr@50"]


def test_f1_of_means_parts_are_what_each_question_pulls() -> None:
    """A question's part, less the measure, is how fast the measure moves when that question gains weight."""
    rankings, gold = [[0, 1, 2], [3], [4, 5, 6]], [{0}, {3, 4, 5}, {1, 4, 6, 7}]
    judged = judge(rankings, gold, [10] * 3, depth=3)
    precision, recall = parse("precision@3").values(judged), parse("recall_frac@3").values(judged)
    measure = parse("f1_of_means@3").values(judged)

    def with_weight(question: int, extra: float) -> float:
        p, r = ((1 - extra) * v.mean() + extra * v[question] for v in (precision, recall))
        return float(2 * p * r / (p + r))

    for question, part in enumerate(measure):
        slope = (with_weight(question, 1e-6) - with_weight(question, -1e-6)) / 2e-6
        assert part - measure.mean() == pytest.approx(slope, abs=1e-8)
