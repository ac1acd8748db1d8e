"""A graph as ONNX: its tokens' states by onnxruntime, or by whatever else runs it, pooled here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recallbench.embedding.embedder import Matrix
from recallbench.embedding.encoders import EncoderSpec
from recallbench.embedding.torch_engine import Batch
from recallbench.errors import InputError

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
"""What such a graph may want of a text."""
States = Callable[[Mapping[str, npt.NDArray[np.int64]]], npt.NDArray[np.float32]]
"""Runs a graph: inputs by name to a vector for each token of each text."""


class GraphEngine:
    """The forward pass of a graph, with its pooling."""

    def __init__(self, spec: EncoderSpec, wanted: list[str], states: States) -> None:
        if not {"input_ids", "attention_mask"} <= {*wanted} <= {*INPUTS}:
            raise InputError(
                f"the graph of {spec.name} is no encoder of texts",
                expected=f"a graph that takes {', '.join(INPUTS)}",
                found=", ".join(wanted) or "no inputs",
            )
        self._spec, self._wanted, self._states = spec, wanted, states

    def __call__(self, batch: Batch) -> Matrix:
        given = dict(zip(INPUTS, (batch.ids, batch.mask, np.zeros_like(batch.ids)), strict=True))
        hidden = self._states({name: given[name] for name in self._wanted})
        if hidden.shape != (*batch.ids.shape, self._spec.native_dims):
            raise InputError(
                f"the graph of {self._spec.name} gives no vector for each token",
                expected=f"{self._spec.native_dims} numbers for each",
                found=" × ".join(map(str, hidden.shape)),
            )
        return self._pooled(hidden, batch)

    def _pooled(self, hidden: npt.NDArray[np.float32], batch: Batch) -> Matrix:
        if self._spec.pooling == "cls":
            vectors = hidden[:, 0]
        else:
            weight = batch.mask[:, :, None].astype(np.float32)
            vectors = (hidden * weight).sum(axis=1) / weight.sum(axis=1)
        if self._spec.normalise:
            vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.ascontiguousarray(vectors, np.float32)


def onnxruntime_engine(spec: EncoderSpec, path: Path) -> GraphEngine:
    """Return a graph as onnxruntime runs it on the CPU."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Between two texts its threads would burn a core each waiting for the next.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session: Any = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library raises a dozen classes of its own that share nothing else
        raise InputError(f"{path.name} of {spec.name} is no ONNX model", found=str(error)[:200]) from error
    output = session.get_outputs()[spec.output].name

    def states(given: Mapping[str, npt.NDArray[np.int64]]) -> npt.NDArray[np.float32]:
        return np.asarray(session.run([output], dict(given))[0])

    return GraphEngine(spec, [wanted.name for wanted in session.get_inputs()], states)
