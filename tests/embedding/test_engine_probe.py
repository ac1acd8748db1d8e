"""The faster engine is taken by a probe on this machine, once for each set of weights."""

from __future__ import annotations

from typing import Any

import pytest
from tiny_models import sentence

from recallbench.embedding import engine_choice, engine_probe
from recallbench.embedding.engine_probe import Probe, time_engines

TEXTS = [sentence(4 + seed, seed) for seed in range(8)]


@pytest.mark.parametrize(
    ("openvino", "torch", "preferred"), [(1.0, 2.0, True), (1.0, 1.11, True), (1.0, 1.09, False), (2.0, 1.0, False)]
)
def test_a_difference_that_noise_makes_chooses_torch(openvino: float, torch: float, preferred: bool) -> None:
    assert Probe(openvino, torch, 256).prefers_openvino is preferred


@pytest.mark.parametrize(
    ("openvino", "torch", "least"),
    [
        ([9.0, 0.003, 0.002] + [0.005] * 7, [7.0, 0.004] + [0.006] * 8, (0.002, 0.004)),
        # More than half a second after the first turn: no further one.
        ([9.0, 3.0], [7.0, 4.0], (3.0, 4.0)),
    ],
    ids=["quick", "slow"],
)
def test_the_least_time_of_each_counts_after_the_first(
    monkeypatch: pytest.MonkeyPatch, openvino: list[float], torch: list[float], least: tuple[float, float]
) -> None:
    now = [0.0]

    def engine(seconds: list[float]) -> Any:
        def run(batch: Any) -> Any:
            assert batch.ids.shape == batch.mask.shape == (2, 100)
            now[0] += seconds.pop(0)

        return run

    monkeypatch.setattr(engine_probe.time, "perf_counter", lambda: now[0])
    measured = time_engines(engine(openvino), engine(torch), 100)
    assert (measured.openvino, measured.reference) == pytest.approx(least)
    assert measured.tokens == 100
    assert openvino == torch == []


@pytest.mark.marked
@pytest.mark.parametrize(
    ("probe", "backend", "proof"),
    [(Probe(0.010, 0.025, 256), "openvino/cpu", "equal"), (Probe(0.025, 0.010, 256), "torch/cpu", "not needed")],
    ids=["OpenVINO", "torch"],
)
def test_the_probe_is_made_once_and_results_tell_of_it(
    opened: Any, monkeypatch: pytest.MonkeyPatch, probe: Probe, backend: str, proof: str
) -> None:
    probes = [probe]
    monkeypatch.setattr(engine_choice, "time_engines", lambda openvino, torch, max_tokens: probes.pop())
    chosen, milliseconds = ("OpenVINO", (10, 25)) if backend == "openvino/cpu" else ("torch", (25, 10))
    note = "a probe on this machine chose {}: 2 texts of 256 tokens took OpenVINO {}.0 ms, torch {}.0 ms".format(
        chosen, *milliseconds
    )
    for computed, proven in ((8, proof), (0, "not needed")):
        embedder = opened(backend="auto")
        embedder.ensure(TEXTS, "passage")
        report = embedder.report()
        assert (report.backend, report.proof, report.computed) == (backend, proven, computed)
        assert report.notes == (note,)
        embedder.close()
    # Asked for by name, nothing is probed.
    assert opened(backend="torch").report().notes == ()
