from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

import recallbench
from recallbench import Case, mrr, ndcg, precision, recall
from recallbench.cases import functions
from recallbench.errors import InputError, UsageError

IDS = st.sampled_from([f"d{n}" for n in range(12)])
rankings = st.lists(IDS, unique=True, max_size=12)
grades = st.dictionaries(IDS, st.integers(1, 4), min_size=1, max_size=6)


def test_functions_by_hand() -> None:
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


def test_precision_over_the_retrieved_ids() -> None:
    assert precision(["a", "x"], ["a"], k=5) == 0.2
    assert precision(["a", "x"], ["a"], k=5, precision="retrieved") == 0.5
    assert precision(["x", "a"], ["a"], k=1, precision="retrieved") == 0.0
    assert precision([], ["a"], precision="retrieved") == 0.0
    with pytest.raises(UsageError, match="no such definition of precision"):
        precision(["a"], ["a"], precision="found")  # type: ignore[arg-type]


@pytest.mark.parametrize("function", [precision, recall, mrr, ndcg])
def test_without_relevant_ids_a_function_raises_or_returns_empty(function: Any) -> None:
    for nothing in ([], set(), {}, {"a": 0}):
        with pytest.raises((InputError, UsageError)):
            function(["a"], nothing)
        assert function(["a"], nothing, empty=0.0) == 0.0
        assert function([], nothing, 3, empty=1) == 1.0
    assert function(iter(itertools.count()), [], empty=0.0) == 0.0
    # With relevant ids `empty` changes nothing.
    assert function(["a"], ["a"], 1, empty=0.5) == 1.0
    assert function(["x"], ["a"], 1, empty=0.5) == 0.0
    for wrong in ("0", True, math.nan, -1, 2):
        with pytest.raises(UsageError, match="what counts where nothing is relevant"):
            function(["a"], [], empty=wrong)
    for wrong in (None, "a", ["a", "a"]):
        with pytest.raises(InputError):
            function(["a"], wrong, empty=0.0)


@settings(deadline=None)
@given(rankings, grades, st.integers(1, 12))
def test_as_trec_eval_has_it(ranked: list[str], graded: dict[str, int], k: int) -> None:
    names = {f"P_{k}", f"recall_{k}", f"ndcg_cut_{k}", "recip_rank"}
    evaluator = pytrec_eval.RelevanceEvaluator({"q": graded}, names)
    expected = evaluator.evaluate({"q": {id: float(99 - n) for n, id in enumerate(ranked)} or {"none": 1.0}})["q"]
    assert precision(ranked, graded, k) == pytest.approx(expected[f"P_{k}"])
    assert recall(ranked, graded, k) == pytest.approx(expected[f"recall_{k}"])
    assert ndcg(ranked, graded, k) == pytest.approx(expected[f"ndcg_cut_{k}"])
    assert mrr(ranked, graded) == pytest.approx(expected["recip_rank"])


@settings(deadline=None)
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
def test_bad_depths_and_rankings_are_refused(function: Any) -> None:
    for k in (0, -1, 1.5):
        with pytest.raises(UsageError):
            function(["a"], ["a"], k)
    for ranked in (None, "a", ["a", "a"], [("a", 1.0), ("b", 2.0)], [("a", math.nan)]):
        with pytest.raises(InputError):
            function(ranked, ["a"])
    with pytest.raises(InputError):
        function(["a"], [])


class Counted:
    """An endless ranking d0, d1, …, which counts the hits that were read."""

    def __init__(self, *, scored: bool = False) -> None:
        self.read = 0
        self._scored = scored

    def __iter__(self) -> Iterator[Any]:
        for n in itertools.count():
            self.read += 1
            yield (f"d{n}", -float(n)) if self._scored else f"d{n}"


@pytest.mark.parametrize("scored", [False, True])
def test_no_more_is_read_than_decides(scored: bool) -> None:
    for function, expected in ((precision, 0.2), (recall, 1.0), (mrr, 0.5)):
        hits = Counted(scored=scored)
        assert function(hits, ["d1", "d4"], k=10) == expected
        assert hits.read == 10
    hits = Counted(scored=scored)
    assert mrr(hits, ["d41"]) == pytest.approx(1 / 42)
    assert hits.read == 42
    assert ndcg(iter(Counted(scored=scored)), ["d0"], k=3) == 1.0


def test_an_endless_ranking_without_a_match_needs_a_k(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "MOST", 1000)
    with pytest.raises(InputError, match="an iterator without k"):
        mrr(Counted(), ["other"])
    assert mrr(Counted(), ["other"], k=5) == 0.0
    with pytest.raises(InputError, match="an id came back twice"):
        precision(itertools.repeat("a"), ["a"])


@pytest.mark.parametrize("function", [precision, recall, mrr, ndcg])
def test_a_generator_that_ends_is_as_good_as_a_list(function: Any) -> None:
    ranked = ["x", "a", "y", "b"]
    assert function((id for id in ranked), ["a", "b"]) == function(ranked, ["a", "b"]) > 0
    assert function(iter(()), ["a"]) == 0.0
    # A list is checked beyond k.
    with pytest.raises(InputError):
        function([*ranked, "x"], ["a"], 2)
