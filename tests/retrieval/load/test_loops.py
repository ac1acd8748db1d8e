"""Closed and open loops, in virtual time where numbers are exact, and with real threads."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import count, islice, pairwise

import pytest

from recallbench.errors import Blocked, InputError
from recallbench.retrieval.load.arrivals import arrival_times, question_order
from recallbench.retrieval.load.call import Client
from recallbench.retrieval.load.closed_loop import closed_loop
from recallbench.retrieval.load.open_loop import LEAD, open_loop
from recallbench.scoring.load.figures import load_figures
from recallbench.stores.store import Hit
from retrieval.load.virtual_clock import VirtualClock, stalling


def test_a_stall_is_missed_by_the_closed_loop_and_seen_by_the_open_one() -> None:
    """1 s once in 1,000 calls of 1 ms: whoever asks at 100 a second waits behind it, one after the other."""
    clock = VirtualClock()
    closed = load_figures([closed_loop([Client(stalling(clock, 0.001, 500, 1.0))], count(), 60.0, 1000, clock)])
    assert closed.n == 1000
    assert [round(each.value or 0, 6) for each in closed.percentiles] == [1.0, 1.0, 1.0]
    assert round(closed.slowest_ms or 0, 6) == 1000.0

    clock = VirtualClock()
    arrivals = arrival_times(100.0, 10.0, "constant", 42, 5000)
    level = open_loop([Client(stalling(clock, 0.001, 500, 1.0))], arrivals, count(), 10.0, 5.0, clock)
    opened = load_figures([level])
    # Each of those who came behind it waits 9 ms less than the one before: 1000, 991, 982 ms, …
    assert [round(each.value or 0, 6) for each in opened.percentiles] == [1.0, 550.0, 910.0]
    assert round(opened.slowest_ms or 0, 6) == 1000.0
    assert sum(call.latency > 0.0011 for call in level.calls) == 111
    assert (opened.n, opened.skipped, opened.saturated, opened.why_void) == (1000, 0, False, "")
    assert max(call.lag for call in level.calls) < 1e-9, "waiting for a free client is the system's"


def test_a_rate_out_of_reach_is_saturated_and_its_percentiles_are_lower_bounds() -> None:
    clock = VirtualClock()
    arrivals = arrival_times(20.0, 5.0, "constant", 42, 5000)
    level = open_loop([Client(stalling(clock, 0.1, -1, 0.0))], arrivals, count(), 5.0, 1.0, clock)
    figures = load_figures([level])
    # 100 arrivals; after 6 s of .1 s each the grace is over.
    assert (figures.n, figures.skipped, figures.saturated) == (61, 39, True)
    p50, p95, _ = figures.percentiles
    assert (round(p50.value or 0), p50.at_least) == (1850, True)
    assert (round(p95.value or 0), p95.at_least, p95.high) == (2950, True, None)


def test_a_late_generator_is_told_apart_from_a_busy_store() -> None:
    class LateClock(VirtualClock):
        def wait_until(self, moment: float) -> None:
            super().wait_until(moment + 0.002)

    clock = LateClock()
    level = open_loop([Client(stalling(clock, 0.02, -1, 0.0))], [0.0, 0.1, 0.2], count(), 0.3, 1.0, clock)
    assert [round(call.lag, 6) for call in level.calls] == [0.002] * 3
    assert load_figures([level]).why_void == "the generator's own p99 lag is 2 ms, over 1 ms"


def test_arrivals_come_from_the_seed_alone() -> None:
    assert arrival_times(4.0, 1.0, "constant", 1, 100) == [0.0, 0.25, 0.5, 0.75]
    assert arrival_times(4.0, 10.0, "constant", 1, 3) == [0.0, 0.25, 0.5]
    assert arrival_times(0.01, 1.0, "poisson", 1, 100) == [0.0]
    times = arrival_times(1000.0, 20.0, "poisson", 1, 100_000)
    assert times == arrival_times(1000.0, 20.0, "poisson", 1, 100_000)
    assert times[:9] != arrival_times(1000.0, 20.0, "poisson", 2, 9)
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert abs(len(times) - 20_000) < 500
    # Independent callers: as many gaps are longer than the mean as e^-1 says.
    assert abs(sum(gap > 0.001 for gap in gaps) / len(gaps) - 0.368) < 0.01


def test_no_question_comes_round_again_before_all_were_asked() -> None:
    order = list(islice(question_order(10, 42), 25))
    assert sorted(order[:10]) == sorted(order[10:20]) == list(range(10))
    assert order[:10] != order[10:20]
    assert set(Counter(order).values()) == {2, 3}


def test_clients_ask_at_the_same_time_and_each_waits_for_its_answer() -> None:
    inside, most, lock = 0, 0, threading.Lock()

    def ask(question: int) -> list[Hit]:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        time.sleep(0.002)
        with lock:
            inside -= 1
        return []

    level = closed_loop([Client(ask)] * 4, question_order(7, 1), 10.0, 200)
    assert len(level.calls) == 200
    assert most == 4
    assert {call.client for call in level.calls} == {0, 1, 2, 3}
    level = open_loop([Client(ask)] * 4, [0.0, 0.0, 0.001, 0.002], question_order(7, 1), 1.0, 1.0)
    assert [call.intended for call in level.calls] == [0.0, 0.0, 0.001, 0.002]
    assert all(call.started >= call.due >= call.intended for call in level.calls)
    assert LEAD > 0


@pytest.mark.parametrize("clients", [1, 3])
def test_what_a_store_refuses_is_counted_and_what_it_breaks_with_ends_the_level(clients: int) -> None:
    def refuse(question: int) -> list[Hit]:
        if question % 2:
            raise InputError("no answer to this", found="nothing")
        return []

    level = closed_loop([Client(refuse)] * clients, question_order(4, 1), 10.0, 40)
    figures = load_figures([level])
    assert (figures.n, figures.failed) == (20, 20)
    assert {call.failure for call in level.calls} == {"", "no answer to this; found nothing"}
    assert figures.percentiles[1].at_least

    def break_down(question: int) -> list[Hit]:
        raise Blocked("gone") if question > 99 else ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        closed_loop([Client(break_down)] * clients, question_order(4, 1), 10.0, 40)


@pytest.mark.marked
def test_a_real_stall_is_missed_by_the_closed_loop_and_seen_by_the_open_one() -> None:
    """Half a second once in 300 calls of a store that really sleeps."""

    def store() -> Callable[[int], list[Hit]]:
        calls = count()

        def ask(question: int) -> list[Hit]:
            time.sleep(0.5 if next(calls) == 150 else 0.001)
            return []

        return ask

    closed = closed_loop([Client(store())], count(), 60.0, 300)
    assert sum(call.latency >= 0.5 for call in closed.calls) == 1
    assert sorted(call.latency for call in closed.calls)[-2] < 0.5, "whatever else the machine did, it is one call"
    opened = open_loop([Client(store())], arrival_times(100.0, 3.0, "constant", 1, 300), count(), 3.0, 5.0)
    # Fifty questions come while it stalls; the first half of them waits for at least half of the stall.
    assert sum(call.latency >= 0.25 for call in opened.calls) >= 25
    p95 = load_figures([opened]).percentiles[1].value
    assert p95 is not None
    assert p95 >= 350.0
