"""OpenVINO embeds only where it is faster and proven to give torch's vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import Tiny, independent, sentence

from recallbench.embedding import machine, vector_agreement
from recallbench.embedding.engines import choice as engine_choice
from recallbench.embedding.engines.choice import choose_backend, missing_device_key
from recallbench.embedding.engines.proof import Proof, ProofTexts, compare_engines, store_proof
from recallbench.embedding.memo import Memo
from recallbench.embedding.registry import open_embedder
from recallbench.embedding.torch_engine import Batch, Engine
from recallbench.errors import Blocked, RecallBenchError

WEIGHTS = {"weights": "w"}
TEXTS = [sentence(length, seed) for seed, length in enumerate((3, 40, 700, 1, 12, 200, 90, 7, 30, 600, 5, 17))]
MANY = [sentence(4 + seed, seed) for seed in range(40)]


def choice(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    preference: Any = "auto",
    *,
    device: str = "cpu",
    openvino: str = "2026.4.1",
) -> str:
    monkeypatch.setattr(machine, "likely_device", lambda environ: device)
    monkeypatch.setattr(
        machine, "library_versions", lambda: {"torch": "2.13.0", "openvino": openvino, "transformers": "5"}
    )
    return choose_backend(preference, {}, Memo(folder), [WEIGHTS])[0]


def test_openvino_is_tried_where_it_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert choice(monkeypatch, tmp_path) == "openvino/cpu"
    assert choice(monkeypatch, tmp_path, "torch") == "torch/cpu"
    assert choice(monkeypatch, tmp_path, openvino="") == "torch/cpu"
    with pytest.raises(Blocked, match="OpenVINO is not installed"):
        choice(monkeypatch, tmp_path, "openvino", openvino="")


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_torch_is_chosen_on_a_graphics_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, device: str) -> None:
    assert choice(monkeypatch, tmp_path, device=device) == f"torch/{device}"
    assert choice(monkeypatch, tmp_path, "torch", device=device) == f"torch/{device}"
    assert choice(monkeypatch, tmp_path, "openvino", device=device) == "openvino/cpu"
    Memo(tmp_path).remember(missing_device_key(device), {"found": False})
    assert choice(monkeypatch, tmp_path, device=device) == "openvino/cpu"


def test_a_failed_proof_counts_for_this_processor_and_these_versions_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert choice(monkeypatch, tmp_path) == "openvino/cpu"
    store_proof(Memo(tmp_path), WEIGHTS, Proof(equal=False, worst_cosine=0.9, texts=32))
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


def engine_of(*vectors: tuple[float, float]) -> Engine:
    """An engine that gives these vectors for batches of two texts, in turn."""
    left = [np.array(vectors[start : start + 2]) for start in range(0, len(vectors), 2)]
    return lambda batch: left.pop(0)


def test_a_proof_is_over_all_batches() -> None:
    batches = [Batch(np.zeros((2, 1), np.int64), np.ones((2, 1), np.int64))] * 2
    same = [(1.0, 0.0)] * 4
    assert compare_engines(engine_of(*same), engine_of(*same), batches) == Proof(True, 1.0, 4)
    for position in range(4):
        vectors = list(same)
        vectors[position] = (0.0, 1.0)
        assert compare_engines(engine_of(*vectors), engine_of(*same), batches) == Proof(False, 0.0, 4)
        vectors[position] = (1.001, 0.0)
        assert compare_engines(engine_of(*vectors), engine_of(*same), batches) == Proof(False, 1.0, 4)


def sampled(lengths: list[int]) -> list[int]:
    sample = ProofTexts()
    for number, length in enumerate(lengths):
        sample.offer(str(number).rjust(length, "x"))
    return [len(text) for text in sample.texts()]


def test_texts_for_a_proof_are_distinct_and_spread_over_all_lengths() -> None:
    sample = ProofTexts()
    for text in ("bb", "a", "ccc", "a", "bb"):
        sample.offer(text)
    assert sample.texts() == ["a", "bb", "ccc"]
    for lengths in (range(10, 1010), range(1009, 9, -1), [10 + number * 37 % 1000 for number in range(1000)]):
        lengths_of_sample = sampled(list(lengths))
        assert len(lengths_of_sample) == 32
        assert (lengths_of_sample[0], lengths_of_sample[-1]) == (10, 1009)
        assert max(np.diff(lengths_of_sample)) <= 2 * 1000 / 31
    # Among many texts of one length the few others stay in the sample.
    assert sampled([50] * 500 + [7, 90] + [50] * 500) == [7] + [50] * 30 + [90]


@pytest.mark.marked
def test_openvino_is_proven_once_and_the_proof_is_cached(opened: Any) -> None:
    first = opened(backend="openvino")
    first.ensure(MANY, "passage")
    report = first.report()
    assert (report.backend, report.proof, report.proof_texts) == ("openvino/cpu", "equal", 32)
    assert report.worst_cosine is not None
    assert 0.999999 <= report.worst_cosine <= 1.000001
    assert first.fingerprint["backend"] == "openvino/cpu"
    first.close()
    second = opened(backend="openvino")
    second.ensure([*MANY, "rain again"], "passage")
    assert (second.report().proof, second.report().computed, second.report().proof_texts) == ("cached", 1, 32)
    third = opened(backend="openvino")
    assert third.reuse(MANY, "passage")
    third.ensure(MANY, "passage")
    assert third.report().proof == "not needed"


@pytest.mark.marked
@pytest.mark.usefixtures("first_setting")
def test_a_proof_over_few_texts_is_repeated_over_more(opened: Any) -> None:
    first = opened(backend="openvino")
    first.ensure(["a cat", "a dog"], "passage")
    assert first.report().proof_texts == 2
    first.ensure(TEXTS, "passage")
    assert (first.report().proof, first.report().proof_texts) == ("equal", 14)


@pytest.mark.marked
@pytest.mark.usefixtures("first_setting")
@pytest.mark.parametrize(("cached", "texts"), [(40, 32), (9, 10)])
def test_one_missing_text_is_proven_together_with_others_of_the_corpus(
    opened: Any, monkeypatch: pytest.MonkeyPatch, cached: int, texts: int
) -> None:
    opened(backend="openvino").ensure(MANY[:cached], "passage")
    monkeypatch.setattr(machine, "cpu_model", lambda: "another processor")
    embedder = opened(backend="openvino")
    assert not embedder.reuse(MANY[:cached], "passage")  # the proof is made with texts of the corpus
    embedder.ensure(MANY[:cached], "passage")
    embedder.ensure(["rain again"], "query")
    report = embedder.report()
    assert (report.proof, report.proof_texts, report.computed) == ("equal", texts, 1)


@pytest.mark.marked
@pytest.mark.usefixtures("first_setting")
def test_a_failed_proof_means_torch_now_and_from_then_on(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(vector_agreement, "TOLERATED", vector_agreement.Difference(1.1, 1e-4))
        embedder = opened(backend="openvino")
        vectors = embedder.lookup(TEXTS, "passage").vectors
    report = embedder.report()
    assert (report.backend, report.proof, report.computed) == ("torch/cpu", "failed", 12)
    assert "torch was used" in report.notes[0]
    assert embedder.fingerprint["backend"] == "torch/cpu"
    again = opened(backend="openvino")
    np.testing.assert_array_equal(again.lookup(TEXTS, "passage").vectors, vectors)
    assert (again.report().backend, again.report().computed, again.report().notes) == ("torch/cpu", 0, report.notes)
    assert again.fingerprint_sha256 == embedder.fingerprint_sha256 == opened(backend="torch").fingerprint_sha256


def scripted_proofs(patched: pytest.MonkeyPatch, *outcomes: bool) -> list[bool]:
    """Give the next comparisons these outcomes; return the list of outcomes not used yet."""
    left = list(outcomes)

    def outcome(fast: Engine, reference: Engine, batches: Sequence[Batch], advance: Any, *, measured: bool) -> Proof:
        return Proof(left.pop(0), 0.5, sum(len(batch.ids) for batch in batches))

    patched.setattr(engine_choice, "compare_engines", outcome)
    return left


@pytest.mark.marked
@pytest.mark.usefixtures("first_setting")
def test_twins_are_both_proven_before_the_first_vector(
    opened: Any, tiny_dragon: Tiny, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    left = scripted_proofs(monkeypatch, True, False)
    embedder = opened(spec=tiny_dragon.spec, backend="openvino")
    embedder.ensure(MANY, "passage")
    assert left == []
    assert (embedder.report().backend, embedder.report().computed) == ("torch/cpu", 40)
    written = [file.parent.name for file in (tmp_path / "cache" / "vectors").glob("*/index") if file.stat().st_size]
    assert written == [f"tiny-dragon-{embedder.fingerprint_sha256[:16]}"]
    embedder.ensure(MANY, "query")
    native = independent(tiny_dragon, MANY, "query")
    np.testing.assert_allclose(embedder.lookup(MANY, "query").vectors[:, :24], native, rtol=2e-5, atol=2e-5)


@pytest.mark.marked
@pytest.mark.usefixtures("first_setting")
def test_twins_that_are_proven_are_not_proven_again(
    opened: Any, tiny_dragon: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = scripted_proofs(monkeypatch, True, True)
    embedder = opened(spec=tiny_dragon.spec, backend="openvino")
    embedder.ensure(MANY, "passage")
    embedder.ensure(MANY, "query")
    report = embedder.report()
    assert left == []
    assert (report.backend, report.proof, report.proof_texts, report.computed) == ("openvino/cpu", "equal", 32, 80)


@pytest.mark.marked
@pytest.mark.usefixtures("first_setting")
@pytest.mark.parametrize("recheck_own", [False, True])
def test_a_proof_that_fails_beside_cached_vectors_stops_the_run_and_the_next_one_uses_torch(
    opened: Any, tiny_bge: Tiny, monkeypatch: pytest.MonkeyPatch, recheck_own: bool
) -> None:
    opened(backend="openvino").ensure(TEXTS, "passage")
    texts = [*TEXTS, "rain again"]
    with monkeypatch.context() as patched:
        patched.setattr(vector_agreement, "TOLERATED", vector_agreement.Difference(1.1, 1e-4))
        patched.setattr(machine, "cpu_model", lambda: "another processor")
        with pytest.raises(RecallBenchError, match="vectors of openvino/cpu already went into this run") as caught:
            opened(backend="openvino", recheck_own=recheck_own).ensure(texts, "passage")
        assert caught.value.found == "12 texts with vectors of openvino/cpu"
        again = opened(backend="openvino")
        vectors = again.lookup(texts, "passage").vectors
        assert (again.report().backend, again.report().computed) == ("torch/cpu", 13)
    np.testing.assert_allclose(vectors, independent(tiny_bge, texts, "passage"), atol=2e-6)
