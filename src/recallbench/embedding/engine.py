"""One set of weights, loaded: the tokens, the forward pass, and the proof behind it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from recallbench.embedding.embedder import Matrix
from recallbench.embedding.encoders import EncoderSpec, PinnedFiles
from recallbench.embedding.forward import Batch, Forward, OpenvinoForward, TorchForward, pad
from recallbench.embedding.module import load_module
from recallbench.embedding.native import unbroken
from recallbench.embedding.proof import Proof, compare
from recallbench.progress import Advance

if TYPE_CHECKING:
    import torch

Row = npt.NDArray[np.int32]


@dataclass(slots=True)
class Clock:
    """Seconds by part of the work."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Add the time of the block to this part."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


class Engine:
    """Ids in, stored vectors out."""

    def __init__(
        self, spec: EncoderSpec, weights: PinnedFiles, paths: Mapping[str, Path], backend: str, clock: Clock
    ) -> None:
        self._spec = spec
        self._clock = clock
        with clock.part("load"):
            self._module: torch.nn.Module | None = load_module(spec, weights, paths)
        self.pad_id: int = int(self._module.pad_id)
        self.backend = backend
        self._forward = self._start(backend)

    def prove(self, rows: Sequence[Row], advance: Advance = lambda done: None) -> Proof:
        """Hold the forward pass against torch on these texts. Not after `release`."""
        size = self._spec.batch_size
        batches = [self.batch(rows[start : start + size]) for start in range(0, len(rows), size)]
        with self._clock.part("proof"):
            return compare(self._forward, TorchForward(self._module, "cpu"), batches, advance)

    def release(self) -> None:
        """Let go of the torch module once nothing will be held against it again: bge-m3's takes 2 GB."""
        if self.backend.startswith("openvino"):
            self._module = None

    def batch(self, rows: Sequence[Row]) -> Batch:
        """Rows of ids, padded."""
        return pad(rows, self.pad_id)

    def forward(self, batch: Batch) -> Matrix:
        """Stored vectors of a batch: native ones, zero-padded."""
        native = self._forward(batch)
        if self._spec.stored_dims == self._spec.native_dims:
            return native
        stored = np.zeros((len(native), self._spec.stored_dims), np.float32)
        stored[:, : self._spec.native_dims] = native
        return stored

    def _start(self, backend: str) -> Forward:
        runtime, _, device = backend.partition("/")
        with self._clock.part("compile" if runtime == "openvino" else "load"):
            return OpenvinoForward(self._module) if runtime == "openvino" else TorchForward(self._module, device)


def device_found(device: str) -> str:
    """The device if torch has it, else `cpu`."""
    with unbroken():
        import torch

    found = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available}.get(device, lambda: False)
    return device if found() else "cpu"
