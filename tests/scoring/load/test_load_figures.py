"""Percentiles of dependent times, saturation, the void rule, and the test of systems in turns."""

from __future__ import annotations

import numpy as np
import pytest

from recallbench.retrieval.load.arrivals import arrival_times, question_order
from recallbench.retrieval.load.call import Client, LoadCall
from recallbench.retrieval.load.closed_loop import closed_loop
from recallbench.retrieval.load.open_loop import open_loop
from recallbench.scoring.load.figures import time_parts, why_void
from recallbench.scoring.load.percentiles import load_percentiles
from recallbench.scoring.load.saturation import saturation
from recallbench.scoring.load.turns import turns_difference, turns_order
from recallbench.scoring.quantiles import EACH_BOUND, quantile_interval
from recallbench.stores.store import Hit


def test_percentiles_are_nearest_ranks_with_bounds_where_there_are_calls_enough() -> None:
    times = [float(i + 1) for i in np.random.default_rng(3).permutation(100)]
    p50, p95, p99 = load_percentiles(times, [], (0.5, 0.95, 0.99))
    assert (p50.value, p95.value, p99.value) == (50.0, 95.0, 99.0)
    assert p95.high == 99.0
    assert (p99.low, p99.high) == (96.0, None), "299 calls are needed for a bound above p99"
    few = load_percentiles(sorted(times)[:58], [], (0.95,))[0]
    assert (few.value, few.high) == (56.0, None)
    assert [each.value for each in load_percentiles([], [], (0.5,))] == [None]


def test_neighbours_that_are_alike_widen_the_bounds() -> None:
    rng = np.random.default_rng(1)
    alone = rng.exponential(1.0, 1000)
    together = np.repeat(rng.exponential(1.0, 25), 40)

    def width(times: np.ndarray) -> float:
        (p50,) = load_percentiles(times.tolist(), [], (0.5,))
        assert p50.low is not None
        assert p50.high is not None
        return p50.high - p50.low

    assert round(width(alone), 2) == 0.12
    assert round(width(together), 2) == 0.58


@pytest.mark.marked
def test_the_bounds_of_a_dependent_series_cover() -> None:
    """An AR(1) with coefficient .8: bounds hold 95 and 89 times in 100, those of order statistics alone 82 and 79."""
    rng, true, held, alone = np.random.default_rng(7), 1.6448536, np.zeros(2, int), np.zeros(2, int)
    for _ in range(200):
        noise = rng.normal(0, 0.6, 1200)
        series = np.empty(1200)
        series[0] = rng.normal()
        for i in range(1, 1200):
            series[i] = 0.8 * series[i - 1] + noise[i]
        (p95,) = load_percentiles(series.tolist(), [], (0.95,))
        assert p95.low is not None
        assert p95.high is not None
        held += (p95.low <= true, true <= p95.high)
        ranks = quantile_interval(series.tolist(), 0.95, EACH_BOUND)
        assert ranks.low is not None
        assert ranks.high is not None
        alone += (ranks.low <= true, ranks.high >= true)
    assert (held.tolist(), alone.tolist()) == ([190, 178], [163, 158])


def test_a_store_is_saturated_where_more_clients_add_little() -> None:
    levels = [(1, 100.0), (2, 190.0), (4, 205.0), (8, 400.0)]
    assert saturation(levels) == saturation(levels[:3])
    found = saturation(levels)
    assert (found.clients, found.rate, found.reached) == (2, 190.0, True)
    assert (saturation(levels[:2]).clients, saturation(levels[:2]).reached) == (2, False)
    assert saturation([(1, 100.0), (2, 110.0), (4, 110.0)]).clients == 2, "10% are enough"


@pytest.mark.parametrize(
    ("lag", "p50", "void"),
    [
        (0.04, 1.0, ""),
        (0.051, 1.0, "the generator's own p99 lag is 0.051 ms, over 5% of the p50"),
        (1.0, 40.0, ""),
        (1.01, 40.0, "the generator's own p99 lag is 1.01 ms, over 1 ms"),
        (0.9, None, ""),
    ],
)
def test_a_level_is_void_when_the_generator_lags(lag: float, p50: float | None, void: str) -> None:
    assert why_void(lag, p50) == void


def test_the_seed_says_who_goes_first_in_each_pair() -> None:
    order = turns_order(4, 42)
    assert order == [(0, 0), (0, 1), (1, 1), (1, 0), (2, 1), (2, 0), (3, 0), (3, 1)]
    assert order == turns_order(4, 42) != turns_order(4, 43)


def test_the_difference_is_that_of_neighbouring_blocks() -> None:
    blocks = [[float(i + j) for j in range(10)] for i in range(10)]
    slower = [[time + 2.0 for time in block] for block in blocks]
    found = turns_difference(blocks, slower, 0.5)
    assert found is not None
    assert (found.difference, found.test.p, found.pairs) == (2.0, 2 / 1024, 10)
    assert turns_difference([[]], [[1.0]], 0.5) is None


@pytest.mark.parametrize(("share", "expected"), [(0.5, 46), (0.95, 59)])
def test_two_turns_of_one_system_differ_once_in_twenty(share: float, expected: int) -> None:
    """1,000 comparisons of a system with itself: times that follow one another, drift, and a stall now and then."""
    rng, rejected = np.random.default_rng(42), 0
    for seed in range(1000):
        noise = np.log1p(0.3 * np.convolve(rng.exponential(1.0, 20 * 30 + 9), np.full(10, 0.1), "valid"))
        drift = np.cumsum(rng.normal(0, 0.01, 600))
        times = (1 + noise + np.abs(drift)) * rng.lognormal(0, 0.1, 600)
        for place in rng.integers(0, 600, rng.poisson(2)):
            times[place : place + 15] += 20.0
        blocks = times.reshape(20, 30)
        sides: tuple[list[list[float]], list[list[float]]] = ([], [])
        for block, (_, side) in zip(blocks, turns_order(10, seed), strict=True):
            sides[side].append(block.tolist())
        found = turns_difference(*sides, share)
        assert found is not None
        rejected += found.test.p <= 0.05
    assert rejected == expected


@pytest.mark.marked
@pytest.mark.parametrize("rate", [None, 6000.0])
def test_real_turns_of_one_store_differ_once_in_twenty(rate: float | None) -> None:
    """60 comparisons of a store here with itself, 20 blocks of 40 calls each: 3 of 60 are to be expected, 8 are not."""
    rng, rejected = np.random.default_rng(1), 0
    rows, questions = rng.normal(size=(400, 64)), rng.normal(size=(50, 64))

    def ask(question: int) -> list[Hit]:
        scores = rows @ questions[question]
        return [Hit(int(place), float(scores[place])) for place in np.argsort(-scores)[:10]]

    for seed in range(60):
        sides: tuple[list[list[float]], list[list[float]]] = ([], [])
        for pair, side in turns_order(10, seed):
            order, clients = question_order(50, seed), [Client(ask)]
            if rate is None:
                block = closed_loop(clients, order, 1.0, 40)
            else:
                times = arrival_times(rate, 1.0, "poisson", 1000 * seed + pair, 40)
                block = open_loop(clients, times, order, times[-1], 1.0)
            sides[side].append([1000 * call.latency for call in block.calls])
        found = turns_difference(*sides, 0.95)
        assert found is not None
        rejected += found.test.p <= 0.05
    assert rejected < 8


def test_a_time_is_made_of_waiting_the_store_and_what_is_around_it() -> None:
    def call(started: float, finished: float, store: float | None) -> LoadCall:
        return LoadCall(0, 0, 0.0, 0.0, started, finished, (), store_call=store)

    told = time_parts([call(0.001, 0.004, 0.002), call(0.0, 0.0015, 0.001), call(0.0, 0.002, 0.0005)])
    assert [(part.name, round(part.p50, 6), round(part.p95, 6)) for part in told] == [
        ("waiting", 0.0, 1.0),
        ("store call", 1.0, 2.0),
        ("adapter and stages", 1.0, 1.5),
    ]
    within = time_parts([call(0.001, 0.004, None)])
    assert [(part.name, round(part.p50, 6)) for part in within] == [("waiting", 1.0), ("answering", 3.0)]
    assert time_parts([]) == ()
