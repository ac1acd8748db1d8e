"""The faster engine and the fastest setting are taken by a probe on this machine, once for each set of weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tiny_models import sentence

from recallbench.embedding.engines import choice, probe
from recallbench.embedding.engines.probe import Probe, Timed, choose_setting, time_engines, workload
from recallbench.embedding.engines.setting import Setting

TEXTS = [sentence(4 + seed, seed) for seed in range(8)]
BY_TWO, BY_ONE = Setting(2), Setting(1)


def probed(openvino: float, torch: float, setting: Setting = BY_ONE) -> Probe:
    return Probe(8, 256, Timed(setting, openvino), Timed(Setting(), torch))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(probe.time, "perf_counter", lambda: now[0])
    return now


@pytest.mark.parametrize(
    ("openvino", "torch", "preferred"), [(1.0, 2.0, True), (1.0, 1.11, True), (1.0, 1.09, False), (2.0, 1.0, False)]
)
def test_a_difference_that_noise_makes_chooses_torch(openvino: float, torch: float, preferred: bool) -> None:
    assert probed(openvino, torch).prefers_openvino is preferred
    assert probed(openvino, torch).setting == (BY_ONE if preferred else Setting())


@pytest.mark.parametrize(
    ("one", "other", "least"),
    [
        ([9.0, 0.003, 0.002] + [0.005] * 7, [7.0, 0.004] + [0.006] * 8, (0.002, 0.004)),
        # More than half a second after the first turn: no further one.
        ([9.0, 3.0], [7.0, 4.0], (3.0, 4.0)),
        ([1.0, 3.0], [1.0, 4.0], (3.0, 4.0)),  # a first turn warms up, and counts for nothing
    ],
    ids=["quick", "slow", "warming"],
)
def test_the_least_time_of_each_counts_after_the_first(
    clock: list[float], one: list[float], other: list[float], least: tuple[float, float]
) -> None:
    def engine(seconds: list[float]) -> Any:
        def run(batch: Any) -> None:
            clock[0] += seconds.pop(0)

        return run

    assert time_engines(engine(one), engine(other), None) == pytest.approx(least)  # type: ignore[arg-type]
    assert one == other == []


def opening(clock: list[float], seconds: Callable[[Setting], float], opened: list[Setting]) -> Any:
    """Open engines that take so long for a text, by their setting."""

    def open_engine(setting: Setting) -> Any:
        opened.append(setting)

        def run(batch: Any) -> None:
            clock[0] += seconds(setting) * len(batch.ids)

        return run

    return open_engine


ALL = (Setting(8), BY_TWO, BY_ONE)


def test_settings_are_tried_against_the_best_so_far(clock: list[float]) -> None:
    opened: list[Setting] = []
    seconds = {ALL[0]: 0.010, ALL[1]: 0.009, ALL[2]: 0.008, BY_ONE._replace(fixed=True): 0.007}
    best = choose_setting(opening(clock, lambda setting: seconds[setting], opened), ALL, 512, fixed=True)
    assert best.setting == BY_ONE._replace(fixed=True)
    assert opened == [*ALL, BY_ONE._replace(fixed=True)]
    # Two hundredths faster is noise.
    best = choose_setting(opening(clock, lambda setting: 0.010 - 0.0001 * len(opened), []), ALL, 512, fixed=False)
    assert best.setting == ALL[0]


def test_a_slow_encoder_runs_little_and_gets_no_second_graph(clock: list[float]) -> None:
    opened: list[Setting] = []
    slow = opening(clock, lambda setting: 0.3, opened)
    assert workload(slow(ALL[0]), 512).ids.shape == (2, 128)
    assert workload(slow(ALL[0]), 40).ids.shape == (2, 40)
    opened.clear()
    assert choose_setting(slow, ALL, 512, fixed=True).setting == ALL[0]
    assert opened == list(ALL)


def test_a_probe_tries_nothing_more_after_five_seconds(clock: list[float]) -> None:
    opened: list[Setting] = []
    choose_setting(opening(clock, lambda setting: 2.0, opened), ALL, 512, fixed=True)
    assert opened == [ALL[0]]


@pytest.mark.marked
@pytest.mark.parametrize(
    ("times", "backend", "proof"),
    [((0.010, 0.025), "openvino/cpu", "equal"), ((0.025, 0.010), "torch/cpu", "not needed")],
    ids=["OpenVINO", "torch"],
)
def test_the_probe_is_made_once_and_results_tell_of_it(
    opened: Any, monkeypatch: pytest.MonkeyPatch, times: tuple[float, float], backend: str, proof: str
) -> None:
    probes = [probed(*times)]
    monkeypatch.setattr(choice, "compare", lambda openvino, torch, window, name: probes.pop())
    chosen = "OpenVINO, a text at a time" if backend == "openvino/cpu" else "torch, 8 texts at a time"
    note = "a probe on this machine chose {}: 8 texts of 256 tokens took OpenVINO {:.1f} ms, torch {:.1f} ms".format(
        chosen, *(1000 * seconds for seconds in times)
    )
    for computed, proven in ((8, proof), (0, "not needed")):
        embedder = opened(backend="auto")
        embedder.ensure(TEXTS, "passage")
        report = embedder.report()
        assert (report.backend, report.proof, report.computed) == (backend, proven, computed)
        assert report.notes == (note,)
        embedder.close()
    # Asked for by name, nothing is compared.
    assert opened(backend="torch").report().notes == ()
