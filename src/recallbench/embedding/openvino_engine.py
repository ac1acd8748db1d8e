"""The OpenVINO engine: the same module or graph, compiled for this CPU at float32 and any batch shape."""

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
from recallbench.embedding.onnx_engine import GraphEngine
from recallbench.embedding.torch_engine import Batch, silent_transformers
from recallbench.errors import RecallBenchError

if TYPE_CHECKING:
    import torch


class OpenvinoUnusable(RecallBenchError):
    """OpenVINO can't be imported, or can't compile or run a module; `found` says why."""


class OpenvinoEngine:
    """The forward pass by OpenVINO."""

    def __init__(self, module: torch.nn.Module) -> None:
        with _openvino_errors():
            self._request = _compile(module).create_infer_request()

    def __call__(self, batch: Batch) -> Matrix:
        with _openvino_errors():
            vectors: Matrix = self._request.infer({0: batch.ids, 1: batch.mask})[0].copy()
        return vectors


def _compile(module: torch.nn.Module) -> Any:
    import torch

    openvino = _import_openvino()
    # A row with padding: traced over full rows alone, the attention mask could be optimised away.
    example = {"input_ids": torch.full((2, 16), 5), "attention_mask": torch.ones((2, 16), dtype=torch.long)}
    example["attention_mask"][1, 8:] = 0
    with warnings.catch_warnings(), torch.no_grad(), silent_transformers():
        warnings.simplefilter("ignore")
        model = openvino.convert_model(module, example_input=example)
    return _compiled(model)


def openvino_graph(spec: EncoderSpec, path: Path) -> GraphEngine:
    """Return a graph of an ONNX file as OpenVINO runs it on the CPU."""
    with _openvino_errors("onnxruntime"):
        model = openvino_core().read_model(str(path))
        request = _compiled(model).create_infer_request()

    def states(given: Mapping[str, npt.NDArray[np.int64]]) -> npt.NDArray[np.float32]:
        with _openvino_errors("onnxruntime"):
            return np.array(request.infer(dict(given))[spec.output])

    return GraphEngine(spec, [wanted.any_name for wanted in model.inputs], states)


def _compiled(model: Any) -> Any:
    # One stream over all cores: batches come one after another, and a vector then never depends on timing.
    hints = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
    compiled = openvino_core().compile_model(model, "CPU", hints)
    precision = compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()
    if precision != "f32":
        raise ValueError(f"asked for f32, it computes in {precision}")
    return compiled


@cache
def openvino_core() -> Any:
    """Return the entry point of OpenVINO, the only one of this process.

    On some processors each one gives the thread a stack for signals, and takes it away when it goes, though another one
    may have been told to restore it: the next signal would then end the process.
    """
    return _import_openvino().Core()


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
