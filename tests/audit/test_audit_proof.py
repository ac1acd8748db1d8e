"""What an account says of the proof of an engine has to be what a run can have found."""

from __future__ import annotations

from typing import Any

import pytest

from recallbench.audit.checks.embedding import _engine
from recallbench.embedding.embedder import EmbeddingReport
from recallbench.results.metrics import EmbedderPart


def problems(
    backend: str, proof: Any, worst: float | None, texts: int, dtype: str = "float32", note: str = "torch was used"
) -> list[str]:
    """Return what the check has against such a proof of 100 texts that were computed."""
    stated = EmbedderPart(
        name="minilm",
        fingerprint={"backend": backend, "dtype": dtype},
        fingerprint_sha256="",
        vectors_sha256="",
        canonical="",
    )
    device = backend.partition("/")[2]
    report = EmbeddingReport("minilm", backend, device, proof, worst, texts, 100, 100, 0, 900, 0, notes=(note,))
    return list(_engine(report, stated))


@pytest.mark.parametrize(
    ("backend", "proof", "worst", "texts", "dtype"),
    [
        ("torch/cpu", "not needed", None, 0, "float32"),
        ("torch/cpu", "failed", 0.5, 32, "float32"),
        ("torch/cpu", "failed", None, 0, "float32"),
        ("onnxruntime/cpu", "failed", 0.5, 32, "float32"),
        ("openvino/cpu", "cached", 1.0, 1, "float32"),
        ("torch/cuda", "equal", 0.9999995, 32, "float32"),
        ("torch/cuda", "not needed", None, 0, "float32"),  # as in earlier releases
        ("torch/cpu", "measured", 0.97, 32, "bfloat16"),
    ],
)
def test_what_a_run_finds_holds(backend: str, proof: str, worst: float | None, texts: int, dtype: str) -> None:
    assert problems(backend, proof, worst, texts, dtype) == []


@pytest.mark.parametrize(
    ("backend", "proof", "worst", "texts", "dtype"),
    [
        ("openvino/cpu", "equal", 1.0, 0, "float32"),
        ("torch/cuda", "cached", 1.0, 0, "float32"),
        ("torch/cuda", "equal", 0.9999, 32, "float32"),
        ("torch/cpu", "measured", None, 32, "bfloat16"),
        ("torch/cpu", "measured", 1.0, 0, "bfloat16"),
        ("openvino/cpu", "measured", -1.0, 32, "int8"),
        ("openvino/cpu", "measured", 0.89, 32, "int8"),
        ("torch/cpu", "not needed", None, 32, "float32"),
        ("torch/cpu", "failed", 0.5, -1, "float32"),
    ],
)
def test_a_proof_on_no_texts_or_with_a_low_cosine_is_none(
    backend: str, proof: str, worst: float | None, texts: int, dtype: str
) -> None:
    said = f"the proof {proof}, on {texts} texts with a cosine of {worst} at worst"
    assert problems(backend, proof, worst, texts, dtype) == [said]


@pytest.mark.parametrize("backend", ["openvino/cpu", "torch/cuda", "torch/mps", "numpy/cpu"])
def test_what_failed_its_proof_has_given_no_vectors(backend: str) -> None:
    assert problems(backend, "failed", 0.5, 32)[0] == f"the proof failed, and vectors of {backend}"


def test_that_a_proof_failed_is_told_by_more_than_a_note_on_a_probe() -> None:
    note = "a probe on this machine chose 8 texts at a time for OpenVINO"
    assert problems("torch/cpu", "failed", 0.5, 32, note=note) == ["the proof failed, and no note says how"]
