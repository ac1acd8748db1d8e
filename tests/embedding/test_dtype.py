"""Vectors in fewer bits are others: told apart by their fingerprint, with what they differ by told beside them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import Tiny, independent, sentence

from commandline import recallbench
from recallbench.embedding import loaded_weights, machine
from recallbench.embedding.engines import choice
from recallbench.embedding.fingerprint import dtype_of
from recallbench.embedding.registry import check_dtype
from recallbench.embedding.torch_engine import TorchEngine
from recallbench.errors import UsageError

TEXTS = [sentence(length, seed) for seed, length in enumerate((3, 40, 12, 90))]
NOTE = r"{} departs from fp32: a cosine of (0\.9\d+|1\.0+) at worst on 4 texts, [\d.]+ times as fast as there \({}\)"


@pytest.mark.parametrize(
    ("dtype", "stated", "engine"), [("bf16", "bfloat16", "torch on cpu"), ("int8", "int8", "torch on cpu")]
)
def test_fewer_bits_have_a_cache_of_their_own_and_tell_of_their_agreement(
    opened: Any, tiny_bge: Tiny, tmp_path: Path, dtype: Any, stated: str, engine: str
) -> None:
    opened().ensure(TEXTS, "passage")
    embedder = opened(dtype=dtype)
    vectors = embedder.lookup(TEXTS, "passage").vectors
    report = embedder.report()
    assert embedder.fingerprint["dtype"] == stated
    assert embedder.fingerprint.get("batch") == ("1 text, without padding" if dtype == "int8" else None)
    assert (report.proof, report.proof_texts, report.computed) == ("measured", 4, 4)
    assert re.fullmatch(NOTE.format(dtype, engine), report.notes[-1])
    assert len(list((tmp_path / "cache/vectors").glob("*/index"))) == 2
    exact = independent(tiny_bge, TEXTS, "passage")
    assert 1e-5 < np.abs(vectors - exact).max() < 0.3
    again = opened(dtype=dtype)
    again.ensure(TEXTS, "passage")
    assert again.report().computed == 0


@pytest.mark.parametrize("name", ["hash", "minilm-int8", "wordllama", "python:mine:embed"])
def test_an_encoder_that_has_its_own_numbers_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="--dtype can't be kept") as caught:
        check_dtype(name, "bf16")
    assert (caught.value.found, caught.value.remedy) == ("--dtype bf16", "leave out --dtype")
    check_dtype(name, "fp32")
    check_dtype("minilm", "int8")


@pytest.mark.parametrize(
    ("name", "facts", "dtype"),
    [
        ("minilm", {"dtype": "float32"}, "fp32"),
        ("minilm", {}, "fp32"),  # as in earlier results
        ("minilm-int8", {"dtype": "int8"}, "fp32"),
        ("path:mine", {"dtype": "float32"}, "fp32"),
        ("minilm", {"dtype": "bfloat16"}, "bf16"),
        ("path:mine", {"dtype": "int8"}, "int8"),
        ("minilm", {"dtype": "float16"}, "unknown numbers"),
        ("minilm", {"dtype": "bf16"}, "unknown numbers"),
        ("minilm", {"dtype": ""}, "unknown numbers"),
        ("minilm-int8", {"dtype": "float32"}, "fp32"),
    ],
)
def test_what_no_encoder_computes_in_is_not_taken_for_fp32(name: str, facts: dict[str, str], dtype: str) -> None:
    assert dtype_of(name, facts) == dtype


def test_a_run_refuses_fewer_bits_where_the_encoder_or_a_cluster_would_not_keep_them(tmp_path: Path) -> None:
    words = ("run", "canary-locomo", "--store", "exact", "--dtype", "bf16")
    refused = recallbench(*words, "--embedder", "hash", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--dtype can't be kept: hash decides itself what it computes in" in refused.stderr
    refused = recallbench(*words, "--embedder", "minilm", "--engine", "ray", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--dtype can't be kept on a cluster" in refused.stderr


@pytest.mark.marked
def test_doctor_asks_for_the_run_that_it_was_asked_about(tmp_path: Path) -> None:
    words = ("canary-locomo", "--store", "exact", "--embedder", "minilm", "--max-tokens", "16", "--dtype", "bf16")
    told = recallbench("doctor", *words, "--backend", "torch", cwd=tmp_path).stdout.splitlines()[-1]
    assert told.endswith(f"next: recallbench run {' '.join(words)} --backend torch")


@pytest.mark.marked
def test_a_run_in_fewer_bits_is_labelled_and_its_audit_holds(tmp_path: Path) -> None:
    words = ("run", "canary-locomo", "--store", "exact", "--embedder", "minilm", "--max-tokens", "16", "--limit", "2")
    done = recallbench(*words, "--dtype", "bf16", "--backend", "torch", "--folder", "result", cwd=tmp_path)
    assert done.returncode == 0
    metrics = json.loads((tmp_path / "result/metrics.json").read_text())
    assert {"kind": "precision", "detail": "vectors computed in bf16 instead of fp32"} in metrics["deviations"]
    assert "bf16 departs from fp32: a cosine of 0.99" in (tmp_path / "result/report.md").read_text()
    assert "contradict" not in recallbench("audit", "result", "--failures", cwd=tmp_path).stdout.replace(
        "Nothing contradicts", ""
    )


class StandIn(TorchEngine):
    """A device that is none: the CPU by another name, which may compute otherwise."""

    off: float = 0.0

    def __init__(self, module: Any, device: str = "cpu") -> None:
        super().__init__(module)
        self._stands_in = device != "cpu"

    def __call__(self, batch: Any) -> Any:
        vectors = super().__call__(batch)
        return vectors + self.off * self._stands_in * np.arange(vectors.shape[1], dtype=np.float32)


@pytest.mark.parametrize("device", ["cuda", "mps"])
@pytest.mark.parametrize(("off", "backend", "proof"), [(0.0, None, "equal"), (0.1, "torch/cpu", "failed")])
def test_another_device_is_probed_and_proven_as_openvino_is(
    opened: Any, monkeypatch: pytest.MonkeyPatch, device: str, off: float, backend: str | None, proof: str
) -> None:
    monkeypatch.setattr(machine, "likely_device", lambda environ: device)
    monkeypatch.setattr(choice, "available_device", lambda wanted: wanted)
    monkeypatch.setattr(loaded_weights, "TorchEngine", StandIn)
    monkeypatch.setattr(StandIn, "off", off)
    embedder = opened(backend="torch")
    embedder.ensure(TEXTS, "passage")
    report = embedder.report()
    assert (report.backend, report.proof) == (backend or f"torch/{device}", proof)
    assert "probe" in report.seconds
    left = f"torch on {device} does not give torch's vectors on this machine ("
    (note,) = report.notes
    assert note.startswith(left if off else "a probe on this machine chose ")
    assert off or note.endswith(" at a time for torch")
    again = opened(backend="torch")
    again.ensure([*TEXTS[:3], "rain"], "passage")
    assert (again.report().backend, again.report().computed) == (report.backend, 1)


def test_a_device_that_fails_is_left_with_its_own_words(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has the device that the test needs to be absent")
    monkeypatch.setattr(machine, "likely_device", lambda environ: "cuda")
    monkeypatch.setattr(choice, "available_device", lambda wanted: wanted)
    embedder = opened(backend="torch")
    embedder.ensure(TEXTS, "passage")
    report = embedder.report()
    assert (report.backend, report.proof, report.computed) == ("torch/cpu", "failed", 4)
    assert report.notes == (
        "torch on cuda can't run this encoder on this machine (Torch not compiled with CUDA enabled): the CPU was used",
    )
