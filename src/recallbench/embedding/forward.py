"""The forward pass: torch on any device, or OpenVINO at full precision on a CPU."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from recallbench.embedding.embedder import Matrix
from recallbench.embedding.module import quiet
from recallbench.errors import RecallBenchError

if TYPE_CHECKING:
    import torch

Ids = npt.NDArray[np.int64]


class Batch(NamedTuple):
    """Token ids padded to the longest text, and which of them are real."""

    ids: Ids
    mask: Ids


class Forward(Protocol):
    """One vector per row of a batch."""

    def __call__(self, batch: Batch) -> Matrix: ...


def pad(rows: Sequence[npt.NDArray[np.int32]], pad_id: int) -> Batch:
    """Rows of ids as one batch."""
    width = max(len(row) for row in rows)
    ids = np.full((len(rows), width), pad_id, np.int64)
    mask = np.zeros((len(rows), width), np.int64)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
        mask[place, : len(row)] = 1
    return Batch(ids, mask)


class TorchForward:
    """The module as torch runs it."""

    def __init__(self, module: torch.nn.Module, device: str) -> None:
        self._module = module.to(device)
        self._device = device

    def __call__(self, batch: Batch) -> Matrix:
        import torch

        with torch.inference_mode():
            ids, mask = (torch.from_numpy(part).to(self._device) for part in batch)
            vectors: Matrix = self._module(ids, mask).float().cpu().numpy()
        return vectors


class OpenvinoUnusable(RecallBenchError):
    """OpenVINO can't be imported, or can't compile or run a module; `found` says why."""


class OpenvinoForward:
    """The same module, compiled by OpenVINO for this CPU, at float32 and any batch shape."""

    def __init__(self, module: torch.nn.Module) -> None:
        with _explained():
            self._request = self._compiled(module).create_infer_request()

    def __call__(self, batch: Batch) -> Matrix:
        with _explained():
            vectors: Matrix = self._request.infer({0: batch.ids, 1: batch.mask})[0].copy()
        return vectors

    @staticmethod
    def _compiled(module: torch.nn.Module) -> Any:
        import torch

        openvino = _openvino()
        # A row with padding: traced over full rows alone, the attention mask could be optimised away.
        example = {"input_ids": torch.full((2, 16), 5), "attention_mask": torch.ones((2, 16), dtype=torch.long)}
        example["attention_mask"][1, 8:] = 0
        with warnings.catch_warnings(), torch.no_grad(), quiet():
            warnings.simplefilter("ignore")
            model = openvino.convert_model(module, example_input=example)
        # One stream over all cores: batches come one after another, and a vector then never depends on timing.
        hints = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
        compiled = openvino.Core().compile_model(model, "CPU", hints)
        precision = compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()
        if precision != "f32":
            raise ValueError(f"asked for f32, it computes in {precision}")
        return compiled


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # its parts raise whatever they like, so that nothing narrower would be all of it
        lines = str(error).strip().splitlines()
        raise OpenvinoUnusable(
            "OpenVINO can't run this encoder",
            found=f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__,
            remedy="--backend torch",
        ) from error


def _openvino() -> Any:
    """OpenVINO without its telemetry: by itself the import reports home and writes a folder `intel` into the home."""
    modules: dict[str, Any] = sys.modules
    if "openvino" not in modules:
        # A module that can't be imported makes OpenVINO take its own silent stub.
        modules.setdefault("openvino_telemetry", None)
    import openvino

    return openvino
