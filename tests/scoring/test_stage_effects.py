from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recallbench.scoring.measures.recall_frac import RecallFrac
from recallbench.scoring.stage_changes import StageChanges, stage_changes
from recallbench.scoring.stage_effects import stage_effects
from recallbench.scoring.stage_lists import stage_lists
from scoring.staged_retrieval import STAGES, staged_retrieval


def test_what_each_stage_changed() -> None:
    retrieval = staged_retrieval()
    assert [stage_changes(lists, 10) for lists in stage_lists(STAGES, retrieval)] == [
        # Without dense only q2 would be another; it then lacks 3, which stands first.
        StageChanges("dense", 3, "pipeline without it", 1, 1),
        StageChanges("lexical", 3, "pipeline without it", 1, 1),
        # Against dense: q1 has 20 in front and 9 behind the cut, q2 is led by lexical's; q3 is the same.
        StageChanges("rrf", 3, "first leg", 2, 2),
        StageChanges("mmr", 3, "input", 0, 0),
        # All three are in another order; of q3 the first ten are the same two.
        StageChanges("cross", 3, "input", 3, 2),
    ]


def test_what_is_handed_no_list_is_compared_with_the_pipeline_without_it() -> None:
    retrieval = staged_retrieval()
    retrieval.traces = [
        replace(trace, without={"hyde": trace.without["rrf"]} if trace.without else {}) for trace in retrieval.traces
    ]
    hyde, leg = (stage_changes(lists, 10) for lists in stage_lists({"hyde": "rewrite", "dense": "search"}, retrieval))
    assert hyde == StageChanges("hyde", 3, "pipeline without it", 1, 1)
    # A single leg can't be done without.
    assert leg == StageChanges("dense", 3, None, None, None)
    assert stage_effects({"dense": "search"}, retrieval, {}, 10)["dense"].promoted is None


def test_gold_that_moved_and_what_was_possible() -> None:
    effects = stage_effects(STAGES, staged_retrieval(), {}, 10)
    moved = {name: (effect.promoted, effect.demoted) for name, effect in effects.items()}
    assert moved == {
        "dense": ({1: (3,)}, {}),
        "lexical": ({}, {}),
        "rrf": ({0: (20,)}, {1: (3,)}),
        "mmr": ({}, {}),
        "cross": ({1: (3,)}, {0: (20,)}),
    }
    # Of the three questions with gold q4 got nothing, and of q2's two only one was ever found.
    pools = {name: {str(m): value for m, value in (effect.pool or {}).items()} for name, effect in effects.items()}
    assert pools["dense"] == pytest.approx({"recall_any@10": 2 / 3, "recall_frac@10": 0.5})
    assert pools["lexical"] == pytest.approx({"recall_any@10": 1 / 3, "recall_frac@10": 1 / 3})
    assert pools["cross"] == pools["rrf"] == pools["dense"]
    # q1's 20 is among the first ten of lexical, rrf and mmr; q2's 3, half of its gold, among those of the other two.
    reached = {name: (effect.reached or {})[RecallFrac(10)] for name, effect in effects.items()}
    assert reached == pytest.approx({"dense": 1 / 6, "lexical": 1 / 3, "rrf": 1 / 3, "mmr": 1 / 3, "cross": 1 / 6})
    # Each leg has one of the three among its first ten: the first is taken.
    assert [(name, effect.best_leg, effect.lost) for name, effect in effects.items() if effect.best_leg] == [
        ("rrf", "dense", {1: (3,)})
    ]
    assert [name for name, effect in effects.items() if effect.again] == ["dense"]


def test_the_difference_to_the_pipeline_without_a_stage() -> None:
    every = {"overall": np.ones(4, dtype=bool), "two": np.array([False, True, False, False])}
    effects = stage_effects(STAGES, staged_retrieval(), every, 10)
    # q3 has no gold, and what q4 would be without a stage is not known, since it failed.
    recall, mrr = (each.paired for each in effects["cross"].differences["overall"])
    assert (recall.n, recall.first, recall.second, recall.wins, recall.losses) == (2, 0.5, 0.5, 1, 1)
    assert (mrr.first, mrr.second) == pytest.approx(((1 + 1 / 11) / 2, (1 / 11 + 1) / 2))
    recall, mrr = (each.paired for each in effects["cross"].differences["two"])
    assert (recall.difference, mrr.difference) == pytest.approx((1, 10 / 11))
    assert effects["dense"].differences["overall"][0].paired.difference == 0.5
    assert effects["mmr"].differences["overall"][0].paired.test.p == 1


def test_a_run_too_shallow_for_a_measure_has_no_difference() -> None:
    retrieval = staged_retrieval()
    retrieval.calls = type(retrieval.calls)(10, 20)
    cross = stage_effects(STAGES, retrieval, {"overall": np.ones(4, dtype=bool)}, 10)["cross"]
    assert [str(each.measure) for each in cross.differences["overall"]] == ["recall_any@10"]
