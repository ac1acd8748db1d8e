"""Simulations with fixed seeds: how often chance is called a difference, and the coverage of intervals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from recallbench.scoring.bootstrap import bootstrap
from recallbench.scoring.intervals import clustered, score_difference, wilson
from recallbench.scoring.judgement import Floats
from recallbench.scoring.paired import difference_interval, holm, paired_columns
from recallbench.scoring.sign_flips import sign_flip_tests

DRAWS = 5000
SIZES = np.array([197, 105, 193, 260, 242, 158, 190, 239, 196, 202])
"""Questions with evidence by conversation of LoCoMo."""
CODES = np.repeat(np.arange(10), SIZES)
NAMES = [str(code) for code in CODES]
MOST_FALSE = 0.057
"""5% and the simulation's own error, two standard errors of a share of 5,000."""


def covers(lows: list[float | None], highs: list[float | None], truth: float) -> float:
    """The share of intervals that hold the truth; none at all holds nothing."""
    covering = [
        low is not None and high is not None and low <= truth <= high for low, high in zip(lows, highs, strict=True)
    ]
    return float(np.mean(covering))


def test_the_sizes_are_those_of_the_committed_result() -> None:
    path = Path(__file__).parents[2] / "benchmarks/locomo/results/pgvector_20261118/raw_retrievals.jsonl"
    clusters = [json.loads(line)["cluster"] for line in path.read_text().splitlines()]
    assert [clusters.count(name) for name in dict.fromkeys(clusters)] == SIZES.tolist()


# Two exchangeable random systems


def ranks(rng: np.random.Generator, ease: Floats) -> Floats:
    """The rank of the first gold segment, geometric: `ease` is the chance that the next segment is gold."""
    return rng.geometric(np.clip(ease, 0.02, 0.98)).astype(float)


def measured(first_gold: Floats) -> tuple[Floats, Floats]:
    """recall_any@10 and mrr@50 of these ranks."""
    return (first_gold <= 10).astype(float), np.where(first_gold <= 50, 1 / first_gold, 0.0)


def called_different(columns: list[tuple[Floats, Floats]]) -> tuple[list[float], float]:
    """For (first, second) of each measure, questions x draws: how often p is at most .05, and any after Holm."""
    ps = np.array([[test.p for test in sign_flip_tests(second - first)] for first, second in columns])
    any_primary = np.mean([min(holm(list(draw))) <= 0.05 for draw in ps.T])
    return (ps <= 0.05).mean(axis=1).tolist(), float(any_primary)


@pytest.mark.marked
@pytest.mark.parametrize("moving", [1.0, 0.35], ids=["all move", "few move"])
def test_independent_random_systems_are_rarely_called_different(moving: float) -> None:
    rng = np.random.default_rng(1)
    shape = (60, 2000)
    ease = rng.beta(1, 3, shape)
    first, other = ranks(rng, ease), ranks(rng, ease)
    second = np.where(rng.random(shape) < moving, other, first)
    pairs = list(zip(measured(first), measured(second), strict=True))
    each, either = called_different(pairs)
    assert max(*each, either) <= MOST_FALSE
    assert max(each) >= 0.03  # a test that never says a thing is no better


@pytest.mark.marked
@pytest.mark.parametrize("shared", [0.0, 0.08], ids=["alike", "conversations differ by system"])
def test_clustered_random_systems_are_rarely_called_different(shared: float) -> None:
    """Ten conversations, a quarter of LoCoMo's, each of which suits one system by chance; questions share that luck."""
    rng = np.random.default_rng(2)
    columns: list[list[Floats]] = [[], [], [], []]
    codes = np.repeat(np.arange(10), SIZES // 4)
    for _ in range(DRAWS):
        ease = rng.beta(1, 3, len(codes))
        sides = [ranks(rng, ease + rng.normal(0, shared, 10)[codes] if shared else ease) for _ in range(2)]
        for column, values in zip(columns, (*measured(sides[0]), *measured(sides[1])), strict=True):
            column.append(np.bincount(codes, weights=values))
    any_a, mrr_a, any_b, mrr_b = (np.array(column).T for column in columns)
    # What the test sees of a clustered pair is the total by cluster: so the sums of ten are enough, and quick.
    each, either = called_different([(any_a, any_b), (mrr_a, mrr_b)])
    assert max(*each, either) <= MOST_FALSE
    assert min(each) >= 0.03


def test_the_totals_by_cluster_are_all_that_the_clustered_test_sees() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.random((len(CODES), 3)), rng.random((len(CODES), 3))
    by_question = paired_columns(first, second, NAMES)
    totals = [np.column_stack([np.bincount(CODES, weights=column) for column in side.T]) for side in (first, second)]
    assert [column.test.p for column in by_question] == pytest.approx(
        [column.test.p for column in paired_columns(totals[0], totals[1])]
    )


@pytest.mark.marked
def test_independence_assumed_of_conversations_would_call_chance_a_difference() -> None:
    """The same systems as above, tested as if questions were independent."""
    rng = np.random.default_rng(2)
    first, second = [], []
    for _ in range(300):
        ease = rng.beta(1, 3, len(CODES))
        for column in (first, second):
            column.append(measured(ranks(rng, ease + rng.normal(0, 0.08, 10)[CODES]))[1])
    naive = paired_columns(np.array(first).T, np.array(second).T)
    assert np.mean([column.test.p <= 0.05 for column in naive]) > 0.3


# Coverage of 95% intervals: 93 to 97% where questions are independent or clusters many, at least 92% with LoCoMo's ten


@pytest.mark.parametrize("n", [158, 500, 1982])
def test_wilson_covers(n: int) -> None:
    """Not simulated: the chance of each count is summed up, for shares from .05 to .98."""
    assert 0.93 <= min(wilson_coverage(n)) <= max(wilson_coverage(n)) <= 0.97


@pytest.mark.parametrize("n", [30, 47, 100])
def test_wilson_covers_few_questions_on_average(n: int) -> None:
    """With so few, a share here and there falls a little outside: a count is a whole number."""
    assert 0.94 <= np.mean(wilson_coverage(n)) <= 0.96


def wilson_coverage(n: int) -> list[float]:
    from scipy.stats import binom

    intervals = [wilson(float(s), n) for s in range(n + 1)]
    lows, highs = (np.array([getattr(interval, end) for interval in intervals]) for end in ("low", "high"))
    counts = np.arange(n + 1)
    shares = np.linspace(0.05, 0.98, 94)
    return [float(binom.pmf(counts, n, share)[(lows <= share) & (share <= highs)].sum()) for share in shares]


@pytest.mark.parametrize(
    ("n", "weights"),
    [(47, (0.2, 0.1, 0.2, 0.5)), (150, (0.2, 0.1, 0.2, 0.5)), (500, (0.05, 0.02, 0.03, 0.9))],
)
def test_bootstrap_covers(n: int, weights: tuple[float, ...]) -> None:
    values = np.array([0.0, 1 / 3, 0.5, 1.0])
    intervals = bootstrap(np.random.default_rng(12).choice(values, (n, DRAWS), p=weights))
    assert (
        0.93
        <= covers(
            [interval.low for interval in intervals], [interval.high for interval in intervals], float(values @ weights)
        )
        <= 0.97
    )


@pytest.mark.parametrize("spread", [1e9, 400.0, 40.0], ids=["alike", "a little apart", "far apart"])
def test_t_over_ten_conversations_covers(spread: float) -> None:
    rng = np.random.default_rng(13)
    intervals = []
    for _ in range(DRAWS):
        shares = rng.beta(0.8 * spread, 0.2 * spread, 10)
        intervals.append(clustered((rng.random(len(CODES)) < shares[CODES]).astype(float), CODES))
    assert (
        0.92 <= covers([interval.low for interval in intervals], [interval.high for interval in intervals], 0.8) <= 0.97
    )


def test_wilson_does_not_cover_where_conversations_differ() -> None:
    rng = np.random.default_rng(13)
    hits = [rng.binomial(SIZES, rng.beta(32, 8, 10)).sum() for _ in range(1500)]
    intervals = [wilson(float(total), len(CODES)) for total in hits]
    assert covers([interval.low for interval in intervals], [interval.high for interval in intervals], 0.8) < 0.75


def test_t_over_many_clusters_covers() -> None:
    rng = np.random.default_rng(14)
    sizes = rng.integers(5, 40, 100)
    codes = np.repeat(np.arange(100), sizes)
    intervals = []
    for _ in range(DRAWS):
        intervals.append(clustered((rng.random(len(codes)) < rng.beta(16, 4, 100)[codes]).astype(float), codes))
    assert (
        0.93 <= covers([interval.low for interval in intervals], [interval.high for interval in intervals], 0.8) <= 0.97
    )


# The same of paired differences


@pytest.mark.parametrize(
    ("n", "win", "loss"),
    [(100, 0.1, 0.1), (200, 0.1, 0.03), (500, 0.02, 0.01), (500, 0.05, 0.02), (500, 0.01, 0.0), (1982, 0.01, 0.005)],
)
def test_the_interval_of_a_binary_difference_covers(n: int, win: float, loss: float) -> None:
    rng = np.random.default_rng(15)
    drawn = rng.multinomial(n, (win, loss, 1 - win - loss), DRAWS)
    by_counts = {(w, lost): score_difference(w, lost, n) for w, lost in {(int(d[0]), int(d[1])) for d in drawn}}
    intervals = [by_counts[int(d[0]), int(d[1])] for d in drawn]
    assert (
        0.93
        <= covers([interval.low for interval in intervals], [interval.high for interval in intervals], win - loss)
        <= 0.97
    )


@pytest.mark.marked
@pytest.mark.parametrize(("n", "moving"), [(100, 1.0), (500, 0.1), (1000, 0.05)])
def test_the_interval_of_a_reciprocal_rank_difference_covers(n: int, moving: float) -> None:
    rng = np.random.default_rng(16)
    shape = (n, DRAWS)
    first, other = 1 / ranks(rng, np.full(shape, 0.45)), 1 / ranks(rng, np.full(shape, 0.55))
    second = np.where(rng.random(shape) < moving, other, first)
    # The mean of 1 / rank is -ln(q) q / (1 - q) for a chance q at each place.
    expected = moving * (-np.log(0.55) * 0.55 / 0.45 + np.log(0.45) * 0.45 / 0.55)
    intervals = [difference_interval(moved, binary=False) for moved in (second - first).T]
    assert (
        0.93
        <= covers([interval.low for interval in intervals], [interval.high for interval in intervals], expected)
        <= 0.97
    )


@pytest.mark.parametrize("spread", [0.0, 0.03], ids=["alike", "conversations differ by system"])
def test_the_interval_of_a_difference_over_ten_conversations_covers(spread: float) -> None:
    rng = np.random.default_rng(17)
    lows, highs = [], []
    for _ in range(10):
        sides = []
        for gain in (0.0, 0.02):
            luck = rng.normal(gain, spread, (10, DRAWS // 10)) if spread else np.full((10, DRAWS // 10), gain)
            sides.append((rng.random((len(CODES), DRAWS // 10)) < 0.8 + luck[CODES]).astype(float))
        intervals = [clustered((1 + moved) / 2, CODES) for moved in (sides[1] - sides[0]).T]
        lows += [interval.low for interval in intervals]
        highs += [interval.high for interval in intervals]
    assert 0.92 <= covers(lows, highs, 0.51) <= 0.97
