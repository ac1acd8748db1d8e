"""Weights that were loaded, for the two engines that may run them: OpenVINO, and the one it is held to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from recallbench.embedding.encoders import EncoderSpec, PinnedFiles
from recallbench.embedding.onnx_engine import onnxruntime_engine
from recallbench.embedding.openvino_engine import OpenvinoEngine, openvino_graph
from recallbench.embedding.options import Backend
from recallbench.embedding.torch_engine import Engine, TorchEngine, load_module

if TYPE_CHECKING:
    import torch


class LoadedWeights(ABC):
    """The weights of one side of an encoder."""

    reference_name: ClassVar[Backend]
    """The engine that OpenVINO is held to."""
    pad_id: int
    """The token that fills a batch up."""

    @abstractmethod
    def openvino(self) -> Engine:
        """Return them as OpenVINO runs them."""

    @abstractmethod
    def reference(self, device: str = "cpu") -> Engine:
        """Return them as the other engine runs them."""


class TorchWeights(LoadedWeights):
    """A transformer as a torch module."""

    reference_name = "torch"

    def __init__(self, module: torch.nn.Module) -> None:
        self._module = module
        self.pad_id = module.pad_id

    def openvino(self) -> Engine:
        return OpenvinoEngine(self._module)

    def reference(self, device: str = "cpu") -> Engine:
        return TorchEngine(self._module, device)


class GraphWeights(LoadedWeights):
    """A graph in an ONNX file."""

    reference_name = "onnxruntime"
    pad_id = 0

    def __init__(self, spec: EncoderSpec, path: Path) -> None:
        self._spec, self._path = spec, path

    def openvino(self) -> Engine:
        return openvino_graph(self._spec, self._path)

    def reference(self, device: str = "cpu") -> Engine:
        return onnxruntime_engine(self._spec, self._path)


def kind_of_weights(spec: EncoderSpec) -> type[LoadedWeights]:
    """Return what the weights of an encoder are."""
    return GraphWeights if spec.kind == "onnx" else TorchWeights


def load_weights(spec: EncoderSpec, files: PinnedFiles, paths: Mapping[str, Path]) -> LoadedWeights:
    """Load verified weights. Runs no code that came with them."""
    if spec.kind == "onnx":
        return GraphWeights(spec, paths[files.model_file])
    return TorchWeights(load_module(spec, files, paths))
