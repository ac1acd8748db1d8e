"""The stages that make one list of several, held to sums that were made by hand."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from question_batch import batch_of
from recallbench.errors import UsageError
from recallbench.retrieval.stages.candidates import Candidates
from recallbench.retrieval.stages.registry import METHODS, options_of, stage_class
from recallbench.retrieval.stages.stage import FuseStage, StageRequest

DENSE = [[(7, 0.9), (3, 0.5), (5, 0.1)], [(4, 0.8)], []]
LEXICAL = [[(3, 12.0), (9, 4.0)], [], []]
"""Three questions: both legs found something; the second found nothing; neither did."""


def fused(stage: FuseStage, *lists: list[list[tuple[int, float]]], legs: str = "") -> list[list[tuple[int, float]]]:
    names = list(legs or "ab"[: len(lists)])
    candidates = stage.fuse(batch_of(["?"] * len(lists[0])), [Candidates.of(given) for given in lists], names)
    rows = [[(hit.id, round(hit.score, 9)) for hit in hits] for hits in candidates.hits()]
    assert np.isneginf(candidates.scores[~candidates.present]).all()
    return rows


def opened(method: str, legs: str = "ab", **options: str) -> FuseStage:
    kind = stage_class("fuse", method)
    assert issubclass(kind, FuseStage)
    kind.check(options)
    kind.check_legs(options, list(legs))
    return kind.open(StageRequest(method, options, legs=list(legs)))


def test_rrf_adds_reciprocal_ranks() -> None:
    assert fused(opened("rrf"), DENSE, LEXICAL) == [
        [(3, 0.032522475), (7, 0.016393443), (9, 0.016129032), (5, 0.015873016)],
        [(4, 0.016393443)],
        [],
    ]
    assert round(1 / 62 + 1 / 61, 9) == 0.032522475
    assert round(1 / 61, 9) == 0.016393443
    # With k = 0 the first rank gives 1, the second 1/2.
    assert fused(opened("rrf", k="0"), DENSE, LEXICAL)[0] == [(3, 1.5), (7, 1.0), (9, 0.5), (5, 0.333333333)]


def test_rrf_weighs_by_leg_however_many_lists_a_leg_has() -> None:
    once = [[(1, 9.0), (2, 8.0)]]
    again = [[(2, 9.0)]]
    other = [[(3, 1.0), (1, 0.5)]]
    # 1: 1/1 + 3/2; 2: 1/2 + 1/1; 3: 3/1
    assert fused(opened("rrf", k="0", weights="1,3"), once, again, other, legs="aab") == [
        [(3, 3.0), (1, 2.5), (2, 1.5)]
    ]


def test_equal_sums_go_by_id_whatever_the_order_of_the_lists() -> None:
    # Each id stands once at rank 1, 2 and 3 of another list: in one order of adding, the sums differ in a last digit.
    lists = [[[(8, 3.0), (2, 2.0), (5, 1.0)]], [[(2, 3.0), (5, 2.0), (8, 1.0)]], [[(5, 3.0), (8, 2.0), (2, 1.0)]]]
    for order in permutations(lists):
        candidates = opened("rrf", "abc").fuse(batch_of(["?"]), [Candidates.of(given) for given in order], list("abc"))
        assert candidates.ids.tolist() == [[2, 5, 8]]
        assert len(set(candidates.scores[0].tolist())) == 1


def test_a_leg_of_weight_0_is_left_out_with_what_it_alone_found() -> None:
    assert fused(opened("rrf", weights="1,0"), DENSE, LEXICAL)[0] == [
        (7, 0.016393443),
        (3, 0.016129032),
        (5, 0.015873016),
    ]
    assert fused(opened("weighted", alpha="1"), DENSE, LEXICAL)[0] == [(7, 1.0), (3, 0.5), (5, 0.0)]
    # The pipeline without a leg: the other keeps its weight, and one of weight 0 leaves nothing.
    assert fused(opened("weighted", weights="0, 5"), LEXICAL, legs="b") == [[(3, 5.0), (9, 0.0)], [], []]
    assert fused(opened("rrf", weights="0, 5"), DENSE, legs="a") == [[], [], []]


def test_a_weighted_sum_of_min_max_scores() -> None:
    # Dense: 7 has 1, 3 has 1/2, 5 has 0; lexical: 3 has 1, 9 has 0. A single candidate has 1.
    assert fused(opened("weighted", alpha="0.6"), DENSE, LEXICAL) == [
        [(3, 0.7), (7, 0.6), (5, 0.0), (9, 0.0)],
        [(4, 0.6)],
        [],
    ]
    assert fused(opened("weighted"), DENSE, LEXICAL)[0] == [(3, 1.5), (7, 1.0), (5, 0.0), (9, 0.0)]
    assert fused(opened("weighted", weights="2, 0.5"), DENSE, LEXICAL)[0][:2] == [(7, 2.0), (3, 1.5)]


def test_equal_scores_are_1_and_zeros_found_nothing() -> None:
    alike = [[(2, 0.4), (6, 0.4)], [(2, -3.0), (6, -3.0)]]
    zeros = [[(1, 0.0), (2, 0.0)], [(1, 0.0)]]
    assert fused(opened("weighted"), alike, zeros) == [[(2, 1.0), (6, 1.0), (1, 0.0)], [(2, 1.0), (6, 1.0), (1, 0.0)]]
    assert fused(opened("combmnz"), zeros) == [[(1, 0.0), (2, 0.0)], [(1, 0.0)]]


def test_a_weighted_sum_of_standard_deviations() -> None:
    # 4, 2 and 0 lie 1.224744871 deviations apart; equal scores say nothing.
    spread = [[(1, 4.0), (2, 2.0), (3, 0.0)], [(1, 0.1), (2, 0.1), (3, 0.1)]]
    other = [[(3, 1.0), (4, 0.0)], [(9, 5.0)]]
    # Those that a list does not have get its lowest: 1 has 1.224744871 - 1, 4 has -1.224744871 - 1.
    assert fused(opened("weighted", normalise="z"), spread, other) == [
        [(1, 0.224744871), (3, -0.224744871), (2, -1.0), (4, -2.224744871)],
        [(1, 0.0), (2, 0.0), (3, 0.0), (9, 0.0)],
    ]


def test_a_weighted_sum_of_scores_as_they_are() -> None:
    assert fused(opened("weighted", normalise="none", weights="10, 1"), DENSE, LEXICAL)[0] == [
        (3, 17.0),
        (7, 9.0),
        (9, 4.0),
        (5, 1.0),
    ]
    # Distances with a minus: what a list does not have is as far as its last.
    near, far = [[(1, -1.0), (2, -2.0)]], [[(2, -3.0), (3, -8.0)]]
    assert fused(opened("weighted", normalise="none"), near, far) == [[(2, -5.0), (1, -9.0), (3, -10.0)]]


def test_combmnz_multiplies_by_the_lists_that_agree() -> None:
    # 3: (1/2 + 1) * 2; the others stand in one list each.
    assert fused(opened("combmnz"), DENSE, LEXICAL) == [[(3, 3.0), (7, 1.0), (5, 0.0), (9, 0.0)], [(4, 1.0)], []]


@pytest.mark.parametrize("method", METHODS["fuse"])
def test_nothing_found_at_all_stays_nothing(method: str) -> None:
    assert fused(opened(method), [[], []], [[], []]) == [[], []]
    assert [option.name for option in options_of("fuse", method)][-1] == "keep"


@pytest.mark.parametrize(
    ("method", "options", "told"),
    [
        ("rrf", {"k": "-1"}, "`k` -1 can't be read"),
        ("rrf", {"weights": "1, -2"}, "`weights` 1, -2 can't be read"),
        ("rrf", {"weights": "0, 0"}, "`weights` 0, 0 can't be read"),
        ("rrf", {"weights": "1, 2, 3"}, "3 weights don't fit 2 legs"),
        ("weighted", {"alpha": "1.5"}, "`alpha` 1.5 can't be read"),
        ("weighted", {"alpha": "nan"}, "`alpha` nan can't be read"),
        ("weighted", {"alpha": ".5", "weights": "1, 1"}, "a weighted sum takes `alpha` or `weights`"),
        ("weighted", {"weights": "1"}, "1 weights don't fit 2 legs"),
    ],
)
def test_options_that_make_no_sense_are_told(method: str, options: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        opened(method, **options)


def test_alpha_is_for_two_legs() -> None:
    with pytest.raises(UsageError, match="`alpha` is for two legs, and there are 3"):
        opened("weighted", "abc", alpha="0.5")
