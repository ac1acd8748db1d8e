"""Which backend a machine gets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recallbench.embedding import machine
from recallbench.embedding.backend import absence, choose_backend
from recallbench.embedding.memo import Memo
from recallbench.embedding.proof import Proof, Proofs
from recallbench.errors import Blocked

WEIGHTS = {"weights": "w"}


def choice(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    asked: Any = "auto",
    *,
    avx512: bool = True,
    device: str = "cpu",
    openvino: str = "2026.4.1",
) -> str:
    monkeypatch.setattr(machine, "has_avx512", lambda: avx512)
    monkeypatch.setattr(machine, "likely_device", lambda environ: device)
    monkeypatch.setattr(
        machine, "library_versions", lambda: {"torch": "2.13.0", "openvino": openvino, "transformers": "5"}
    )
    return choose_backend(asked, {}, Memo(folder), [WEIGHTS])[0]


def test_openvino_where_it_is_faster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert choice(monkeypatch, tmp_path) == "openvino/cpu"
    assert choice(monkeypatch, tmp_path, avx512=False) == "torch/cpu"
    assert choice(monkeypatch, tmp_path, "openvino", avx512=False) == "openvino/cpu"
    assert choice(monkeypatch, tmp_path, "torch") == "torch/cpu"
    assert choice(monkeypatch, tmp_path, openvino="") == "torch/cpu"
    with pytest.raises(Blocked, match="OpenVINO is not installed"):
        choice(monkeypatch, tmp_path, "openvino", openvino="")


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_torch_on_a_graphics_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, device: str) -> None:
    assert choice(monkeypatch, tmp_path, device=device) == f"torch/{device}"
    assert choice(monkeypatch, tmp_path, "torch", device=device) == f"torch/{device}"
    assert choice(monkeypatch, tmp_path, "openvino", device=device) == "openvino/cpu"
    Memo(tmp_path).keep(absence(device), {"found": False})
    assert choice(monkeypatch, tmp_path, device=device) == "openvino/cpu"


def test_a_failed_proof_counts_for_this_processor_and_these_versions_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert choice(monkeypatch, tmp_path) == "openvino/cpu"
    Proofs(Memo(tmp_path)).keep(WEIGHTS, Proof(equal=False, worst_cosine=0.9, texts=32))
    assert choice(monkeypatch, tmp_path) == "torch/cpu"
    assert choice(monkeypatch, tmp_path, openvino="2027.1") == "openvino/cpu"
    monkeypatch.setattr(machine, "cpu_model", lambda: "another processor")
    assert choice(monkeypatch, tmp_path) == "openvino/cpu"


def test_cuda_is_expected_only_with_a_driver_that_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.platform, "system", lambda: "Linux")
    monkeypatch.setattr(machine, "version_of", lambda name: "2.13.0")
    monkeypatch.setattr(machine.Path, "exists", lambda self: True)
    assert machine.likely_device({}) == "cuda"
    assert machine.likely_device({"CUDA_VISIBLE_DEVICES": ""}) == "cpu"
    monkeypatch.setattr(machine, "version_of", lambda name: "2.13.0+cpu")
    assert machine.likely_device({}) == "cpu"


def test_a_device_torch_does_not_have_is_remembered(
    tiny_bge: Any, environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from recallbench.embedding.registry import open_embedder

    if torch.cuda.is_available():
        pytest.skip("this machine has the device that the test needs to be absent")
    monkeypatch.setattr(machine, "likely_device", lambda environ: "cuda")
    embedder = open_embedder(tiny_bge.spec, cache_dir=tmp_path / "c", environ=environ, backend="torch")
    assert embedder.fingerprint["backend"] == "torch/cuda"
    embedder.ensure(["a cat"], "passage")
    assert embedder.report().backend == "torch/cpu"
    assert embedder.report().notes == ("torch finds no cuda device: the CPU was used",)
    again = open_embedder(tiny_bge.spec, cache_dir=tmp_path / "c", environ=environ, backend="torch")
    assert again.fingerprint["backend"] == "torch/cpu"


def test_a_file_is_hashed_and_the_processor_named_by_one_rule_everywhere() -> None:
    from recallbench.corpora import stream
    from recallbench.embedding import weights
    from recallbench.results import environment, manifest

    assert weights.sha256_of is manifest.file_sha256 is stream.sha256_of
    assert environment.cpu_model is machine.cpu_model
