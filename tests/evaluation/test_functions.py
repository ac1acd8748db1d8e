from __future__ import annotations

import math
from typing import Any

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import recallbench
from recallbench import Case, mrr, ndcg, precision, recall
from recallbench.errors import InputError, UsageError

IDS = st.sampled_from([f"d{n}" for n in range(12)])
rankings = st.lists(IDS, unique=True, max_size=12)
grades = st.dictionaries(IDS, st.integers(1, 4), min_size=1, max_size=6)


def test_by_hand() -> None:
    ranked = ["a", "x", "b", "y"]
    assert precision(ranked, {"a", "b"}, k=4) == 0.5
    assert precision(ranked, {"a", "b"}) == 0.2
    assert recall(ranked, ["a", "b", "c", "d"], k=3) == 0.5
    assert mrr(ranked, ["b"]) == pytest.approx(1 / 3)
    assert mrr(ranked, ["b"], k=2) == 0.0
    assert ndcg(ranked, ["a", "b"], k=3) == pytest.approx(1.5 / (1 + 1 / math.log2(3)))
    assert ndcg(ranked, {"a": 1, "b": 3}, k=3) == pytest.approx(2.5 / (3 + 1 / math.log2(3)))
    assert ndcg(ranked, ["a", "b"], k=3, grades={"a": 1, "b": 3}) == ndcg(ranked, {"a": 1, "b": 3}, k=3)
    assert precision([], ["a"]) == recall([], ["a"]) == mrr([], ["a"]) == ndcg([], ["a"]) == 0.0
    assert mrr([("a", 2.0), ("b", 1.0)], ["b"]) == 0.5


@given(rankings, grades, st.integers(1, 12))
def test_as_trec_eval_has_it(ranked: list[str], graded: dict[str, int], k: int) -> None:
    names = {f"P_{k}", f"recall_{k}", f"ndcg_cut_{k}", "recip_rank"}
    evaluator = pytrec_eval.RelevanceEvaluator({"q": graded}, names)
    expected = evaluator.evaluate({"q": {id: float(99 - n) for n, id in enumerate(ranked)} or {"none": 1.0}})["q"]
    assert precision(ranked, graded, k) == pytest.approx(expected[f"P_{k}"])
    assert recall(ranked, graded, k) == pytest.approx(expected[f"recall_{k}"])
    assert ndcg(ranked, graded, k) == pytest.approx(expected[f"ndcg_cut_{k}"])
    assert mrr(ranked, graded) == pytest.approx(expected["recip_rank"])


@given(st.lists(st.tuples(rankings, grades), min_size=1, max_size=5), st.integers(1, 12))
def test_a_report_is_the_mean_of_them(drawn: list[tuple[list[str], dict[str, int]]], k: int) -> None:
    cases = [Case(str(n), graded) for n, (_, graded) in enumerate(drawn)]
    report = recallbench.evaluate(cases, lambda query, k: drawn[int(query)][0][:k], k)

    def mean(function: Any) -> float:
        return sum(function(ranked, graded, k) for ranked, graded in drawn) / len(drawn)

    assert report.precision == pytest.approx(mean(precision))
    assert report.recall == pytest.approx(mean(recall))
    assert report.ndcg == pytest.approx(mean(ndcg))
    assert report.mrr == pytest.approx(mean(mrr))


@pytest.mark.parametrize("function", [precision, recall, mrr, ndcg])
def test_bad_input(function: Any) -> None:
    for k in (0, -1, 1.5):
        with pytest.raises(UsageError):
            function(["a"], ["a"], k)
    for ranked in (None, "a", ["a", "a"], [("a", 1.0), ("b", 2.0)], [("a", math.nan)]):
        with pytest.raises(InputError):
            function(ranked, ["a"])
    with pytest.raises(InputError):
        function(["a"], [])
