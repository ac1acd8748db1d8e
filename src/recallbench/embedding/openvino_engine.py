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
from recallbench.embedding.engines.setting import WHOLE_BATCHES, Piece, Setting, joined, pieces
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
            self._requests = _requests(graph, setting.streams, precision)
            self._fixed: list[Any] = []
            if setting.fixed:
                self._fixed = _requests(_of_full_windows(graph, setting.texts, window), setting.streams, precision)

    def __call__(self, batch: Batch) -> Matrix:
        cut = pieces(batch, self._setting.texts, self._window)
        vectors: list[Any] = [None] * len(cut)
        running: dict[int, Any] = {}
        with _openvino_errors():
            try:
                for place, piece in enumerate(cut):
                    # Pieces take turns, whichever is done first: what runs where never depends on timing.
                    if place >= self._setting.streams:
                        vectors[place - self._setting.streams] = _finish(running, place - self._setting.streams)
                    request = self._request(piece, place % self._setting.streams)
                    request.start_async({0: piece.batch.ids, 1: piece.batch.mask})
                    running[place] = request
                for place in list(running):
                    vectors[place] = _finish(running, place)
            finally:
                for request in running.values():
                    request.wait()
        return joined(cut, vectors)

    def _request(self, piece: Piece, slot: int) -> Any:
        full = piece.batch.ids.shape == (self._setting.texts, self._window)
        return (self._fixed if full and self._fixed else self._requests)[slot]


def _finish(running: dict[int, Any], place: int) -> Matrix:
    request = running[place]
    request.wait()
    del running[place]
    vectors: Matrix = request.get_output_tensor(0).data.copy()
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
        request = _compiled(model).create_infer_request()

    def states(given: Mapping[str, npt.NDArray[np.int64]]) -> npt.NDArray[np.float32]:
        with _openvino_errors("onnxruntime"):
            return np.array(request.infer(dict(given))[spec.output])

    return GraphEngine(spec, [wanted.any_name for wanted in model.inputs], states)


def _requests(graph: Any, streams: int, precision: str) -> list[Any]:
    """Return what runs a graph, as many as run side by side."""
    compiled = _compiled(graph, streams, precision)
    return [compiled.create_infer_request() for _ in range(streams)]


def _compiled(model: Any, streams: int = 1, wanted: str = "f32") -> Any:
    side_by_side = {"PERFORMANCE_HINT": "THROUGHPUT", "NUM_STREAMS": streams}
    hints = {"INFERENCE_PRECISION_HINT": wanted, **({"PERFORMANCE_HINT": "LATENCY"} if streams == 1 else side_by_side)}
    compiled = openvino_core().compile_model(model, "CPU", hints)
    precision = compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()
    if precision != wanted:
        raise ValueError(f"asked for {wanted}, it computes in {precision}")
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
