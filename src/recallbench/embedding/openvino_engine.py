"""The OpenVINO engine: the same module or graph, compiled for this CPU at float32."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recallbench.embedding.embedder import Matrix
from recallbench.embedding.encoders import EncoderSpec
from recallbench.embedding.engines.setting import WHOLE_BATCHES, Setting, joined, pieces
from recallbench.embedding.onnx_engine import GraphEngine
from recallbench.embedding.torch_engine import Batch, EngineUnusable, silent_transformers

if TYPE_CHECKING:
    import torch


class OpenvinoUnusable(EngineUnusable):
    """OpenVINO can't be imported, or can't compile or run a module; `found` says why."""


class OpenvinoEngine:
    """The forward pass by OpenVINO."""

    def __init__(self, graph: Any, setting: Setting = WHOLE_BATCHES, window: int = 512, precision: str = "f32") -> None:
        """`graph` is a converted module; `window` the tokens of a text of full length."""
        self._setting, self._window = setting, window
        with _openvino_errors():
            self._request = _request(graph, precision)
            self._fixed = (
                _request(_of_full_windows(graph, setting.texts, window), precision) if setting.fixed else self._request
            )

    def __call__(self, batch: Batch) -> Matrix:
        cut = pieces(batch, self._setting.texts, self._window)
        with _openvino_errors():
            return joined(cut, [self._vectors(piece.batch) for piece in cut])

    def _vectors(self, batch: Batch) -> Matrix:
        full = batch.ids.shape == (self._setting.texts, self._window)
        request = self._fixed if full else self._request
        vectors: Matrix = request.infer({0: batch.ids, 1: batch.mask})[0]
        return vectors


def converted(module: torch.nn.Module) -> Any:
    """Return a module as a graph of OpenVINO for texts of any number and length."""
    import torch

    with _openvino_errors():
        openvino = _import_openvino()
        # A row with padding: traced over full rows alone, the attention mask could be optimised away.
        example = {"input_ids": torch.full((2, 16), 5), "attention_mask": torch.ones((2, 16), dtype=torch.long)}
        example["attention_mask"][1, 8:] = 0
        with warnings.catch_warnings(), torch.no_grad(), silent_transformers():
            warnings.simplefilter("ignore")
            return openvino.convert_model(module, example_input=example)


def _of_full_windows(graph: Any, texts: int, window: int) -> Any:
    """Return the graph for this shape alone, which lets more of its parts be fused."""
    graph = graph.clone()
    graph.reshape({given: [texts, window] for given in graph.inputs})
    return graph


def openvino_graph(spec: EncoderSpec, path: Path) -> GraphEngine:
    """Return a graph of an ONNX file as OpenVINO runs it on the CPU."""
    with _openvino_errors("onnxruntime"):
        model = openvino_core().read_model(str(path))
        request = _request(model)

    def states(given: Mapping[str, npt.NDArray[np.int64]]) -> npt.NDArray[np.float32]:
        with _openvino_errors("onnxruntime"):
            return np.array(request.infer(dict(given))[spec.output])

    return GraphEngine(spec, [wanted.any_name for wanted in model.inputs], states)


def _request(model: Any, wanted: str = "f32") -> Any:
    """Return what runs a graph, text after text on all cores: one request, since vectors have to be right each time.

    Two side by side were a tenth faster on two cores; the guide on speed says why they are not used.
    """
    hints = {"INFERENCE_PRECISION_HINT": wanted, "PERFORMANCE_HINT": "LATENCY"}
    compiled = openvino_core().compile_model(model, "CPU", hints)
    precision = compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()
    if precision != wanted:
        raise ValueError(f"asked for {wanted}, it computes in {precision}")
    return compiled.create_infer_request()


@cache
def openvino_core() -> Any:
    """Return the entry point of OpenVINO, the only one of this process.

    On some processors each one gives the thread a stack for signals, and takes it away when it goes, though another one
    may have been told to restore it: the next signal would then end the process.
    """
    return _import_openvino().Core()


def keep_to_cores(cores: int) -> None:
    """Let all that is compiled from now on run on so many cores, whichever are free.

    Pinned, processes that share a machine would all take its first cores, and leave the others idle.
    """
    openvino_core().set_property("CPU", {"INFERENCE_NUM_THREADS": cores, "ENABLE_CPU_PINNING": False})


def _import_openvino() -> Any:
    """Import OpenVINO without its telemetry, which reports home and writes a folder `intel` into the home."""
    modules: dict[str, Any] = sys.modules
    if "openvino" not in modules:
        # A module that can't be imported makes OpenVINO take its own silent stub.
        modules.setdefault("openvino_telemetry", None)
    import openvino

    return openvino


@contextmanager
def _openvino_errors(otherwise: str = "torch") -> Iterator[None]:
    try:
        yield
    except Exception as error:  # its parts raise whatever they like, so that nothing narrower would be all of it
        lines = str(error).strip().splitlines()
        raise OpenvinoUnusable(
            "OpenVINO can't run this encoder",
            found=f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__,
            remedy=f"--backend {otherwise}",
        ) from error
