"""OpenVINO embeds only where it is proven to give torch's vectors; whatever goes wrong with it, torch does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import Tiny, independent, sentence

from recallbench.embedding import engine, machine, proof
from recallbench.embedding.engine import Clock, Engine
from recallbench.embedding.forward import Batch, Forward
from recallbench.embedding.proof import Proof, compare
from recallbench.embedding.sample import ProofTexts
from recallbench.embedding.weights import Shelf
from recallbench.errors import RecallBenchError

pytestmark = pytest.mark.marked

TEXTS = [sentence(length, seed) for seed, length in enumerate((3, 40, 700, 1, 12, 200, 90, 7, 30, 600, 5, 17))]
MANY = [sentence(4 + seed, seed) for seed in range(40)]


def rows(*vectors: tuple[float, ...]) -> Forward:
    """A forward pass that gives these vectors for batches of as many texts, in turn."""
    left = [np.array(vectors[start : start + 2]) for start in range(0, len(vectors), 2)]
    return lambda batch: left.pop(0)


def compared(*ours: tuple[float, float]) -> Proof:
    """Four texts in two batches, held against (1, 0)."""
    batch = Batch(np.zeros((2, 1), np.int64), np.ones((2, 1), np.int64))
    return compare(rows(*ours), rows(*[(1.0, 0.0)] * 4), [batch, batch])


def at_cosine(cosine: float) -> tuple[float, float]:
    return cosine, (1 - cosine**2) ** 0.5


@pytest.mark.parametrize("place", range(4))
def test_one_text_below_the_cosine_of_six_nines_is_no_equality(place: int) -> None:
    vectors = [(1.0, 0.0)] * 4
    vectors[place] = at_cosine(0.9999989)
    found = compared(*vectors)
    assert not found.equal
    assert found.worst_cosine == pytest.approx(0.9999989, abs=1e-12)
    vectors[place] = at_cosine(0.9999991)
    assert compared(*vectors).equal


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("sign", [1, -1])
def test_one_vector_longer_or_shorter_by_a_ten_thousandth_is_no_equality(place: int, sign: int) -> None:
    vectors = [(1.0, 0.0)] * 4
    vectors[place] = (1 + sign * 1.1e-4, 0.0)
    found = compared(*vectors)
    assert (found.equal, found.worst_cosine) == (False, 1.0)
    vectors[place] = (1 + sign * 0.9e-4, 0.0)
    assert compared(*vectors) == Proof(equal=True, worst_cosine=1.0, texts=4)


@pytest.mark.parametrize("useless", [(float("nan"), 0.0), (0.0, 0.0), (float("inf"), 0.0)])
def test_a_useless_vector_is_no_equality(useless: tuple[float, float]) -> None:
    assert not compared((1.0, 0.0), useless, (1.0, 0.0), (1.0, 0.0)).equal


def sampled(lengths: list[int]) -> list[int]:
    sample = ProofTexts()
    for number, length in enumerate(lengths):
        sample.offer(str(number).rjust(length, "x"))
    return [len(text) for text in sample.texts()]


def test_texts_for_a_proof_are_distinct_and_spread_over_all_lengths() -> None:
    few = ProofTexts()
    for text in ("bb", "a", "ccc", "a", "bb"):
        few.offer(text)
    assert few.texts() == ["a", "bb", "ccc"]
    for lengths in (range(10, 1010), range(1009, 9, -1), [10 + number * 37 % 1000 for number in range(1000)]):
        kept = sampled(list(lengths))
        assert len(kept) == 32
        assert (kept[0], kept[-1]) == (10, 1009)
        assert max(np.diff(kept)) <= 2 * 1000 / 31
    # Among many of one length the few others are kept.
    assert sampled([50] * 500 + [7, 90] + [50] * 500) == [7] + [50] * 30 + [90]


def test_openvino_is_proven_once_and_the_proof_is_kept(opened: Any) -> None:
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
    third.ensure(MANY, "passage")
    assert third.report().proof == "not needed"


def test_a_proof_on_few_texts_is_made_again_on_more(opened: Any) -> None:
    first = opened(backend="openvino")
    first.ensure(["a cat", "a dog"], "passage")
    assert first.report().proof_texts == 2
    first.ensure(TEXTS, "passage")
    assert (first.report().proof, first.report().proof_texts) == ("equal", 14)


@pytest.mark.marked
@pytest.mark.parametrize(("cached", "texts"), [(40, 32), (9, 10)])
def test_one_missing_text_is_proven_together_with_others_of_the_corpus(
    opened: Any, monkeypatch: pytest.MonkeyPatch, cached: int, texts: int
) -> None:
    opened(backend="openvino").ensure(MANY[:cached], "passage")
    monkeypatch.setattr(machine, "cpu_model", lambda: "another processor")
    embedder = opened(backend="openvino")
    embedder.ensure(MANY[:cached], "passage")
    embedder.ensure(["rain again"], "query")
    report = embedder.report()
    assert (report.proof, report.proof_texts, report.computed) == ("equal", texts, 1)


def test_a_failed_proof_means_torch_now_and_from_then_on(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(proof, "COSINE", 1.1)
        embedder = opened(backend="openvino")
        found = embedder.lookup(TEXTS, "passage").vectors
    report = embedder.report()
    assert (report.backend, report.proof, report.computed) == ("torch/cpu", "failed", 12)
    assert "torch was used" in report.notes[0]
    assert embedder.fingerprint["backend"] == "torch/cpu"
    again = opened(backend="openvino")
    np.testing.assert_array_equal(again.lookup(TEXTS, "passage").vectors, found)
    assert (again.report().backend, again.report().computed, again.report().notes) == ("torch/cpu", 0, report.notes)
    assert again.fingerprint_sha256 == embedder.fingerprint_sha256 == opened(backend="torch").fingerprint_sha256


class Broken:
    """OpenVINO's entry point with one thing wrong."""

    def __init__(self, wrong: str) -> None:
        import openvino

        self.wrong = wrong
        self.core = openvino.Core()

    def compile_model(self, *arguments: Any) -> Any:
        if self.wrong == "compile":
            raise RuntimeError("unsupported on this processor\nand a long trace")
        self.compiled = self.core.compile_model(*arguments)
        return self

    def get_property(self, name: str) -> Any:
        return self

    def get_type_name(self) -> str:
        return "bf16" if self.wrong == "precision" else "f32"

    def create_infer_request(self) -> Any:
        return self

    def infer(self, inputs: Any) -> Any:
        raise RuntimeError("unsupported on this processor")


def break_openvino(patched: pytest.MonkeyPatch, wrong: str) -> None:
    import openvino

    if wrong == "import":
        patched.setitem(sys.modules, "openvino", None)
    elif wrong == "convert":

        def convert(*arguments: Any, **options: Any) -> Any:
            raise TypeError("unsupported on this processor")

        patched.setattr(openvino, "convert_model", convert)
    else:
        real = Broken(wrong)
        patched.setattr(openvino, "Core", lambda: real)


FAULTS = {
    "import": "ModuleNotFoundError: import of openvino halted",
    "convert": "TypeError: unsupported on this processor)",
    "compile": "RuntimeError: unsupported on this processor)",
    "precision": "ValueError: asked for f32, it computes in bf16)",
    "infer": "RuntimeError: unsupported on this processor)",
}


@pytest.mark.parametrize("wrong", FAULTS)
def test_an_openvino_that_does_not_work_means_torch_now_and_from_then_on(
    opened: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wrong: str
) -> None:
    with monkeypatch.context() as patched:
        break_openvino(patched, wrong)
        embedder = opened(backend="openvino")
        found = embedder.lookup(TEXTS, "passage").vectors
    report = embedder.report()
    assert (report.backend, report.proof, report.worst_cosine, report.computed) == ("torch/cpu", "failed", None, 12)
    [note] = report.notes
    assert note.startswith(f"OpenVINO can't run this encoder on this machine ({FAULTS[wrong]}")
    assert note.endswith("): torch was used")
    assert embedder.fingerprint["backend"] == "torch/cpu"
    by_torch = opened(backend="torch", cache_dir=tmp_path / "other").lookup(TEXTS, "passage").vectors
    np.testing.assert_array_equal(found, by_torch)
    again = opened(backend="openvino")
    assert again.fingerprint["backend"] == "torch/cpu"
    again.ensure(TEXTS, "passage")
    assert (again.report().computed, again.report().notes) == (0, (note,))


@pytest.mark.marked
def test_a_proven_openvino_that_stops_working_is_replaced_within_the_run(
    opened: Any, tiny_bge: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(backend="openvino").ensure(MANY, "passage")
    with monkeypatch.context() as patched:
        break_openvino(patched, "import")
        embedder = opened(backend="openvino")
        embedder.ensure(MANY, "passage")
        assert embedder.report().reused == 40
        embedder.ensure(["rain again"], "query")
        found = embedder.lookup(MANY, "passage").vectors
    report = embedder.report()
    assert (report.backend, report.distinct, report.computed, report.reused) == ("torch/cpu", 41, 41, 0)
    assert embedder.fingerprint["backend"] == "torch/cpu"
    np.testing.assert_allclose(found, independent(tiny_bge, MANY, "passage"), atol=2e-6)


def failing(patched: pytest.MonkeyPatch, *outcomes: bool) -> list[bool]:
    """Let these comparisons end so, in turn; the list tells which are left."""
    left = list(outcomes)

    def outcome(fast: Forward, reference: Forward, batches: Any, advance: Any) -> Proof:
        return Proof(left.pop(0), 0.5, sum(len(batch.ids) for batch in batches))

    patched.setattr(engine, "compare", outcome)
    return left


def test_twins_are_both_proven_before_the_first_vector(
    opened: Any, tiny_dragon: Tiny, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    left = failing(monkeypatch, True, False)
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
def test_twins_that_are_proven_are_not_proven_again(
    opened: Any, tiny_dragon: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = failing(monkeypatch, True, True)
    embedder = opened(spec=tiny_dragon.spec, backend="openvino")
    embedder.ensure(MANY, "passage")
    embedder.ensure(MANY, "query")
    report = embedder.report()
    assert left == []
    assert (report.backend, report.proof, report.proof_texts, report.computed) == ("openvino/cpu", "equal", 32, 80)


def test_a_proof_that_fails_once_cached_texts_were_met_means_torch_for_those_too(
    opened: Any, tiny_bge: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(backend="openvino").ensure(TEXTS, "passage")
    by_torch = opened(backend="torch")
    by_torch.ensure([TEXTS[0], "rain again"], "passage")
    with monkeypatch.context() as patched:
        patched.setattr(proof, "COSINE", 1.1)
        patched.setattr(machine, "cpu_model", lambda: "another processor")
        embedder = opened(backend="openvino")
        embedder.ensure([*TEXTS, "rain again", "a cat"], "passage")
        embedder.lookup(["rain again"], "passage")
        found = embedder.lookup(TEXTS, "passage").vectors
    report = embedder.report()
    # Two were there from the run with torch.
    assert (report.backend, report.distinct, report.computed, report.reused) == ("torch/cpu", 14, 12, 2)
    np.testing.assert_allclose(found, independent(tiny_bge, TEXTS, "passage"), atol=2e-6)


def test_a_proof_that_fails_after_vectors_were_looked_up_stops_the_run(
    opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(backend="openvino").ensure(TEXTS, "passage")
    with monkeypatch.context() as patched:
        patched.setattr(proof, "COSINE", 1.1)
        patched.setattr(machine, "cpu_model", lambda: "another processor")
        embedder = opened(backend="openvino")
        embedder.lookup(TEXTS, "passage")
        with pytest.raises(RecallBenchError, match="vectors of openvino/cpu already went into this run"):
            embedder.ensure(["rain again"], "passage")
        again = opened(backend="openvino")
        again.ensure([*TEXTS, "rain again"], "passage")
        assert (again.report().backend, again.report().computed) == ("torch/cpu", 13)


def test_float32_is_asked_for_where_the_processor_would_take_less(
    tiny_bge: Tiny, environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import openvino

    from recallbench.embedding.memo import Memo
    from recallbench.progress import Silent

    core = openvino.Core()
    if "BF16" not in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        pytest.skip("this processor has no bf16 that OpenVINO could take instead")
    core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "bf16"})
    monkeypatch.setattr(openvino, "Core", lambda: core)
    spec = tiny_bge.spec
    paths = Shelf(spec.name, environ, Memo(tmp_path / "memo"), Silent()).verified(spec.passage)
    proven = Engine(spec, spec.passage, paths, "openvino/cpu", Clock())
    assert proven.prove([np.array([0, 7, 8, 9, 2], np.int32)]).equal
