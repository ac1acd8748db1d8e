import math

import numpy as np
import pytest

from recallbench.scoring.abstention import abstention, threshold_for

NO, YES = True, False  # abstain, answerable


def test_auroc_written_out_with_a_tie() -> None:
    """Answerable .9 .5 .5, to abstain .5 .1: pairs won 1, 1, .5, 1, .5, 1 of six."""
    figures = abstention([0.9, 0.5, 0.5, 0.5, 0.1], [YES, YES, YES, NO, NO])
    assert figures.auroc == pytest.approx(5 / 6)
    assert (figures.n, figures.answerable) == (2, 3)


def test_auroc_is_the_mann_whitney_count() -> None:
    rng = np.random.default_rng(3)
    scores, abstain = rng.integers(0, 12, 80) / 11, rng.random(80) < 0.3
    yes, no = scores[~abstain], scores[abstain]
    count = sum((a > b) + 0.5 * (a == b) for a in yes for b in no)
    assert abstention(scores, abstain).auroc == pytest.approx(count / (len(yes) * len(no)))


def test_delong_written_out() -> None:
    """Shares won per answerable question 1, .75, .75 (variance 1/48); per question to abstain 2/3, 1 (1/18)."""
    interval = abstention([0.9, 0.5, 0.5, 0.5, 0.1], [YES, YES, YES, NO, NO]).auroc_interval
    half = 1.959963985 * math.sqrt((1 / 48) / 3 + (1 / 18) / 2)
    assert interval.low == pytest.approx(5 / 6 - half)
    assert interval.high == 1.0
    assert interval.method == "DeLong 95%"


def test_clustered_auroc_sums_the_same_parts_by_cluster() -> None:
    """Parts (1-A)/3, (.75-A)/3 twice, (2/3-A)/2, (1-A)/2 with A = 5/6; clusters: the first and last, and the rest."""
    figures = abstention([0.9, 0.5, 0.5, 0.5, 0.1], [YES, YES, YES, NO, NO], ["a", "b", "b", "b", "a"])
    a = (1 - 5 / 6) / 3 + (1 - 5 / 6) / 2
    b = 2 * (0.75 - 5 / 6) / 3 + (2 / 3 - 5 / 6) / 2
    assert figures.auroc_interval.method == "jackknife t(1) 95% over 2 clusters on the logit scale"
    assert figures.auroc_interval.design_effect == pytest.approx(2 * (a * a + b * b) / ((1 / 48) / 3 + (1 / 18) / 2))


def test_the_threshold_lets_95_in_100_answerable_questions_through() -> None:
    scores = np.arange(1, 101) / 100
    assert threshold_for(scores) == 0.06
    assert (scores >= 0.06).mean() == 0.95
    assert threshold_for(np.array([0.4])) == 0.4
    assert threshold_for(np.array([0.2, 0.2, 0.9])) == 0.2
    assert threshold_for(np.array([])) is None


def test_false_retrieval_counts_what_reaches_the_threshold() -> None:
    figures = abstention([0.9, 0.8, 0.3, 0.8, 0.85, 0.1], [YES, YES, NO, NO, NO, NO])
    assert (figures.threshold, figures.false_retrieval) == (0.8, 0.5)
    assert figures.false_retrieval_interval.method == "Wilson 95%"
    assert abstention([0.9, 0.3, 0.8], [YES, NO, NO], threshold=0.2).false_retrieval == 1.0


def test_the_threshold_does_not_look_at_the_questions_to_abstain_from() -> None:
    answerable = [0.9, 0.5, 0.7]
    thresholds = {abstention([*answerable, score], [YES] * 3 + [NO]).threshold for score in (0.0, 0.6, 1.0)}
    assert thresholds == {0.5}


def test_an_empty_ranking_is_the_right_answer_to_nothing() -> None:
    nothing = float("-inf")
    figures = abstention([0.5, 0.6, nothing, nothing], [YES, YES, NO, NO])
    assert (figures.false_retrieval, figures.auroc) == (0.0, 1.0)
    assert figures.auroc_interval.method == "n/a (complete separation)"
    assert abstention([nothing, nothing], [YES, NO]).false_retrieval == 0.0
    assert abstention([nothing, nothing], [YES, NO]).auroc == 0.5


def test_with_one_kind_of_question_alone_there_is_no_auroc() -> None:
    only_answerable, only_abstaining = abstention([0.5], [YES]), abstention([0.5], [NO])
    assert (only_answerable.false_retrieval, only_answerable.auroc) == (None, None)
    assert (only_abstaining.threshold, only_abstaining.false_retrieval, only_abstaining.auroc) == (None, None, None)
    assert only_abstaining.auroc_interval.method == "n/a (no question)"


def test_a_nan_score_is_refused() -> None:
    with pytest.raises(ValueError, match="index 1 is NaN"):
        abstention([0.5, float("nan")], [YES, NO])
    with pytest.raises(ValueError, match="1 scores for 2"):
        abstention([0.5], [YES, NO])
