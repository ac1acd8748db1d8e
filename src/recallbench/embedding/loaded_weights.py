"""Weights that were loaded, for the two engines that may run them: OpenVINO, and the one it is held to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from recallbench.embedding.encoders import EncoderSpec, PinnedFiles
from recallbench.embedding.engines.setting import WHOLE_BATCHES, Setting, in_pieces
from recallbench.embedding.onnx_engine import onnxruntime_engine
from recallbench.embedding.openvino_engine import OpenvinoEngine, converted, openvino_graph
from recallbench.embedding.options import Backend
from recallbench.embedding.torch_engine import Engine, TorchEngine, load_module, reduced_module

if TYPE_CHECKING:
    import torch


class LoadedWeights(ABC):
    """The weights of one side of an encoder."""

    reference_name: ClassVar[Backend]
    """The engine that OpenVINO is held to."""
    pad_id: int
    """The token that fills a batch up."""

    reshapes: ClassVar[bool] = False
    """Whether OpenVINO may run texts of full length on a graph of their own shape."""

    @abstractmethod
    def openvino(self, setting: Setting = WHOLE_BATCHES) -> Engine:
        """Return them as OpenVINO runs them."""

    @abstractmethod
    def reference(self, device: str = "cpu", setting: Setting = WHOLE_BATCHES) -> Engine:
        """Return them as the other engine runs them."""

    def in_full(self) -> LoadedWeights:
        """Return them as they compute in all the bits that they have."""
        return self


class TorchWeights(LoadedWeights):
    """A transformer as a torch module."""

    reference_name = "torch"
    reshapes = True

    def __init__(self, spec: EncoderSpec, module: torch.nn.Module) -> None:
        self._spec, self._window, self._module = spec, spec.max_tokens, module
        self.pad_id = module.pad_id

    @cached_property
    def _graph(self) -> Any:
        return converted(self._module)

    def openvino(self, setting: Setting = WHOLE_BATCHES) -> Engine:
        precision = "bf16" if self._spec.reduced else "f32"
        return OpenvinoEngine(self._graph, setting, self._window, precision)

    def reference(self, device: str = "cpu", setting: Setting = WHOLE_BATCHES) -> Engine:
        module = reduced_module(self._module, self._spec.dtype) if self._spec.reduced else self._module
        return in_pieces(TorchEngine(module, device), setting.texts, self._window)

    def in_full(self) -> LoadedWeights:
        return TorchWeights(replace(self._spec, dtype="float32"), self._module)


class GraphWeights(LoadedWeights):
    """A graph in an ONNX file."""

    reference_name = "onnxruntime"
    pad_id = 0

    def __init__(self, spec: EncoderSpec, path: Path) -> None:
        self._spec, self._path = spec, path

    def openvino(self, setting: Setting = WHOLE_BATCHES) -> Engine:
        return in_pieces(openvino_graph(self._spec, self._path), setting.texts, self._spec.max_tokens)

    def reference(self, device: str = "cpu", setting: Setting = WHOLE_BATCHES) -> Engine:
        return in_pieces(onnxruntime_engine(self._spec, self._path), setting.texts, self._spec.max_tokens)


def kind_of_weights(spec: EncoderSpec) -> type[LoadedWeights]:
    """Return what the weights of an encoder are."""
    return GraphWeights if spec.kind == "onnx" else TorchWeights


def load_weights(spec: EncoderSpec, files: PinnedFiles, paths: Mapping[str, Path]) -> LoadedWeights:
    """Load verified weights. Runs no code that came with them."""
    if spec.kind == "onnx":
        return GraphWeights(spec, paths[files.model_file])
    return TorchWeights(spec, load_module(spec, files, paths))
