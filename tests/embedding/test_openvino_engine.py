"""Torch embeds wherever OpenVINO fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import Tiny, sentence

from recallbench.embedding import openvino_engine
from recallbench.embedding.engines.setting import Setting
from recallbench.embedding.openvino_engine import OpenvinoEngine, OpenvinoUnusable, converted, openvino_core
from recallbench.embedding.torch_engine import TorchEngine, load_module, pad_batch
from recallbench.embedding.vector_agreement import vector_difference
from recallbench.embedding.weights import FileResolver
from recallbench.progress import Silent

pytestmark = pytest.mark.marked

TEXTS = [sentence(length, seed) for seed, length in enumerate((3, 40, 700, 12))]


class Broken:
    """OpenVINO's entry point with one thing wrong."""

    def __init__(self, wrong: str) -> None:
        self.wrong = wrong
        self.core = openvino_core()

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
        patched.setattr(openvino_engine, "openvino_core", lambda: real)


FAULTS = {
    "import": "ModuleNotFoundError: import of openvino halted",
    "convert": "TypeError: unsupported on this processor)",
    "compile": "RuntimeError: unsupported on this processor)",
    "precision": "ValueError: asked for f32, it computes in bf16)",
    "run": "RuntimeError: unsupported on this processor)",
}


@pytest.mark.parametrize("wrong", FAULTS)
def test_an_openvino_that_does_not_work_means_torch_now_and_from_then_on(
    opened: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wrong: str
) -> None:
    with monkeypatch.context() as patched:
        break_openvino(patched, wrong)
        embedder = opened(backend="openvino")
        vectors = embedder.lookup(TEXTS, "passage").vectors
    report = embedder.report()
    assert (report.backend, report.proof, report.worst_cosine, report.computed) == ("torch/cpu", "failed", None, 4)
    [note] = report.notes
    assert note.startswith(f"OpenVINO can't run this encoder on this machine ({FAULTS[wrong]}")
    assert note.endswith("): torch was used")
    assert embedder.fingerprint["backend"] == "torch/cpu"
    by_torch = opened(backend="torch", cache_dir=tmp_path / "other").lookup(TEXTS, "passage").vectors
    np.testing.assert_array_equal(vectors, by_torch)
    again = opened(backend="openvino")
    assert again.fingerprint["backend"] == "torch/cpu"
    again.ensure(TEXTS, "passage")
    assert (again.report().computed, again.report().notes) == (0, (note,))


def test_a_proven_openvino_that_stops_working_is_an_error_that_names_the_way_out(
    opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(backend="openvino").ensure(TEXTS, "passage")
    with monkeypatch.context() as patched:
        break_openvino(patched, "import")
        with pytest.raises(OpenvinoUnusable) as caught:
            opened(backend="openvino").ensure(["rain again"], "query")
    assert caught.value.remedy == "--backend torch"


def test_float32_is_requested_where_the_processor_would_take_less(
    tiny_bge: Tiny, environ: dict[str, str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    core = openvino_core()
    if "BF16" not in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        pytest.skip("this processor has no bf16 that OpenVINO could take instead")
    before = core.get_property("CPU", "INFERENCE_PRECISION_HINT")
    core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "bf16"})
    request.addfinalizer(lambda: core.set_property("CPU", {"INFERENCE_PRECISION_HINT": before}))
    spec = tiny_bge.spec
    paths = FileResolver(spec.name, environ, tmp_path, Silent()).verified_paths(spec.passage)
    module = load_module(spec, spec.passage, paths)
    batch = pad_batch([np.array([0, 7, 8, 9, 2], np.int32)], 1)
    assert vector_difference(OpenvinoEngine(converted(module))(batch), TorchEngine(module)(batch)).tolerable


def test_every_setting_gives_the_vectors_of_torch_and_text_by_text_no_neighbour_counts(
    tiny_bge: Tiny, environ: dict[str, str], tmp_path: Path
) -> None:
    paths = FileResolver(tiny_bge.spec.name, environ, tmp_path, Silent()).verified_paths(tiny_bge.spec.passage)
    module = load_module(tiny_bge.spec, tiny_bge.spec.passage, paths)
    graph = converted(module)
    rows = [np.resize(np.arange(7, 90, dtype=np.int32), length) for length in (3, 64, 40, 64, 12, 64, 39, 5)]
    batch, backwards = pad_batch(rows, 1), pad_batch(rows[::-1], 1)
    expected = TorchEngine(module)(batch)
    for setting in (Setting(), Setting(1), Setting(1, fixed=True), Setting(2, fixed=True)):
        engine = OpenvinoEngine(graph, setting, 64)
        np.testing.assert_allclose(engine(batch), expected, atol=2e-6)
        np.testing.assert_array_equal(engine(batch), engine(batch))
        if setting.texts == 1:
            # Those that are longer than half a window always run alone.
            np.testing.assert_array_equal(engine(batch)[1:4], engine(backwards)[::-1][1:4])


SIGNALLED = """
import faulthandler, gc, signal, sys, time
import torch
from recallbench.embedding.openvino_engine import OpenvinoEngine, converted

class Sums(torch.nn.Module):
    def forward(self, input_ids, attention_mask):
        return (input_ids * attention_mask).float().sum(1, keepdim=True)

faulthandler.enable()
engines = [OpenvinoEngine(converted(Sums())) for _ in range(3)]
while engines:
    engines.pop(0)
    gc.collect()
rung = []
signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
signal.setitimer(signal.ITIMER_REAL, 0.01)
deadline = time.monotonic() + 20
while not rung and time.monotonic() < deadline:
    time.sleep(0.01)
print(rung == [signal.SIGALRM])
"""


def test_a_signal_is_handled_after_several_engines_are_gone() -> None:
    done = subprocess.run([sys.executable, "-c", SIGNALLED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
