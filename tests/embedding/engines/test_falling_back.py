"""Whatever is used after a proof failed has been proven itself, side by side of twins, or is the plain engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from recallbench.embedding import machine
from recallbench.embedding.encoders import ENCODERS, Role
from recallbench.embedding.engines import choice as engine_choice
from recallbench.embedding.engines.choice import EngineChoice
from recallbench.embedding.engines.proof import OPENVINO, compare_engines
from recallbench.embedding.engines.setting import WHOLE_BATCHES, Setting
from recallbench.embedding.loaded_weights import LoadedWeights
from recallbench.embedding.memo import Memo
from recallbench.embedding.options import Dtype
from recallbench.embedding.stopwatch import Stopwatch
from recallbench.embedding.torch_engine import Engine
from recallbench.progress import Silent

CUDA, PLAIN = "torch/cuda", "torch/cpu"
TEXTS = ["a cat", "rain"]


class StandIn(LoadedWeights):
    """Weights of one side, which the backends that are named compute otherwise than all the bits give."""

    reference_name = "torch"
    pad_id = 0

    def __init__(self, wrong: Sequence[str], full: bool = False) -> None:
        self._wrong, self._full = wrong, full

    def openvino(self, setting: Setting = WHOLE_BATCHES) -> Engine:
        return self._engine(OPENVINO)

    def reference(self, device: str = "cpu", setting: Setting = WHOLE_BATCHES) -> Engine:
        return self._engine(f"torch/{device}")

    def in_full(self) -> LoadedWeights:
        return StandIn(self._wrong, full=True)

    def _engine(self, backend: str) -> Engine:
        vector = (0.0, 1.0) if backend in self._wrong and not self._full else (1.0, 0.0)
        return lambda batch: np.array([vector] * len(batch.ids), np.float32)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., EngineChoice]:
    """Opens the choice of an encoder's engines on a machine with a graphics device and OpenVINO."""

    def open_(
        backend: Any = "auto", device: str = "cuda", dtype: Dtype = "fp32", **wrong: Sequence[str]
    ) -> EngineChoice:
        spec = ENCODERS["dragon-plus" if "query" in wrong else "minilm"]
        versions = {"torch": "2.13.0", "openvino": "2026.4.1", "transformers": "5"}
        monkeypatch.setattr(machine, "likely_device", lambda environ: device)
        monkeypatch.setattr(machine, "library_versions", lambda: versions)
        monkeypatch.setattr(engine_choice, "available_device", lambda wanted: wanted)
        monkeypatch.setattr(
            engine_choice,
            "load_weights",
            lambda spec, files, paths: StandIn(wrong["query" if files == spec.query != spec.passage else "passage"]),
        )
        monkeypatch.setattr(engine_choice, "choose_setting", lambda opening, settings, window, fixed: _first(opening))
        resolver: Any = SimpleNamespace(progress=Silent(), verified_paths=lambda files: {})
        spec = replace(spec.with_dtype(dtype), batch_size=2)
        hashes = {"passage/m": "1", "query/m": "2"}
        return EngineChoice(spec, hashes, resolver, Memo(tmp_path), backend, {}, Stopwatch())

    return open_


def _first(opening: Callable[[Setting], Engine]) -> Any:
    return SimpleNamespace(setting=WHOLE_BATCHES, engine=opening(WHOLE_BATCHES))


def prepared(choice: EngineChoice) -> tuple[str, str, float | None, int]:
    """Return what embeds after the proofs, and what is told of them."""
    choice.prepare("passage", TEXTS, tokenised)
    return choice.backend, choice.proof_status, choice.worst_cosine, choice.proof_texts


def tokenised(texts: Sequence[str], role: Role) -> list[list[int]]:
    return [[len(text)] for text in texts]


def test_openvino_is_proven_where_a_graphics_device_failed(
    opened: Callable[..., EngineChoice], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EngineChoice, "_probed", lambda self, weights: OPENVINO)
    assert prepared(opened(passage=[CUDA])) == (OPENVINO, "equal", 1.0, 2)
    assert prepared(opened(passage=[CUDA])) == (OPENVINO, "cached", 1.0, 2)


def test_where_both_fail_the_plain_engine_is_left(
    opened: Callable[..., EngineChoice], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EngineChoice, "_probed", lambda self, weights: OPENVINO)
    choice = opened(passage=[CUDA, OPENVINO])
    assert prepared(choice) == (PLAIN, "failed", 0.0, 2)
    assert [note.partition(" (")[0] for note in choice.notes[-2:]] == [
        "torch on cuda does not give torch's vectors on this machine",
        "OpenVINO does not give torch's vectors on this machine",
    ]


def test_twins_are_proven_with_the_backend_that_is_used(
    opened: Callable[..., EngineChoice], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EngineChoice, "_probed", lambda self, weights: OPENVINO)
    # What the passages gave on the graphics device says nothing of what OpenVINO gives for them.
    assert prepared(opened(passage=[OPENVINO], query=[CUDA])) == (PLAIN, "failed", 0.0, 2)


def test_fewer_bits_are_measured_with_the_engine_that_is_fallen_back_to(opened: Callable[..., EngineChoice]) -> None:
    choice = opened("openvino", "cpu", "bf16", passage=[OPENVINO])
    assert prepared(choice) == (PLAIN, "measured", 1.0, 2)
    assert choice.notes[-1].endswith("(torch on cpu)")


def test_a_comparison_of_nothing_is_no_proof_and_is_not_kept(opened: Callable[..., EngineChoice]) -> None:
    engine = StandIn([]).reference()
    assert not compare_engines(engine, engine, []).equal
    assert not compare_engines(engine, engine, [], measured=True).equal
    choice = opened("openvino", passage=[])
    choice.prepare("passage", [], tokenised)
    assert (choice.backend, choice.proof_status, choice.proof_texts) == (PLAIN, "failed", 0)
    assert choice.notes == [
        "OpenVINO can't run this encoder on this machine (there is no text to compare it on): torch was used"
    ]
    assert prepared(opened("openvino", passage=[])) == (OPENVINO, "equal", 1.0, 2)


def test_a_proof_counts_for_the_setting_that_it_was_made_with(
    opened: Callable[..., EngineChoice], monkeypatch: pytest.MonkeyPatch
) -> None:
    choice = opened("openvino", passage=[])
    assert prepared(choice) == (OPENVINO, "equal", 1.0, 2)
    assert choice.notes == ["a probe on this machine chose 8 texts at a time for OpenVINO"]
    assert prepared(opened("openvino", passage=[])) == (OPENVINO, "cached", 1.0, 2)
    other = opened("openvino", passage=[])
    other.take(Setting(1))
    assert prepared(other) == (OPENVINO, "equal", 1.0, 2)
    # One that failed with a setting is not tried with another.
    failing = opened("openvino", passage=[OPENVINO])
    failing.take(Setting(2))
    assert prepared(failing)[:2] == (PLAIN, "failed")
    assert opened("openvino", passage=[]).backend == PLAIN
