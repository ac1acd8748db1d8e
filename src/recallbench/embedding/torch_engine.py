"""The torch engine: an encoder's weights as one torch module, run on any device."""

from __future__ import annotations

import inspect
import pickle
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recallbench.embedding.embedder import Matrix
from recallbench.embedding.encoders import EncoderSpec, PinnedFiles
from recallbench.embedding.tokens import TokenIds
from recallbench.errors import InputError, RecallBenchError
from recallbench.interruption import postpone_signals

if TYPE_CHECKING:
    import torch

UNUSED = ("pooler.", "embeddings.position_ids")
"""Tensors that pooling of the last hidden state never reads; a checkpoint may carry or lack them."""


class Batch(NamedTuple):
    """Token ids padded to the longest text, and which of them are real."""

    ids: npt.NDArray[np.int64]
    mask: npt.NDArray[np.int64]


Engine = Callable[[Batch], Matrix]
"""A forward pass: one vector per row of a batch. They are in memory when it returns: a clock read then has all of it,
whatever device computed them."""


class EngineUnusable(RecallBenchError):
    """What should run an encoder can't; `found` says why."""


def pad_batch(rows: Sequence[TokenIds], pad_id: int) -> Batch:
    """Join rows of token ids into one batch."""
    width = max(len(row) for row in rows)
    ids = np.full((len(rows), width), pad_id, np.int64)
    mask = np.zeros((len(rows), width), np.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        mask[number, : len(row)] = 1
    return Batch(ids, mask)


def reduced_module(module: torch.nn.Module, dtype: str) -> torch.nn.Module:
    """Return a module that computes in `bfloat16`, or whose layers are of eight bits, set for each text anew."""
    import torch

    if dtype == "bfloat16":
        return deepcopy(module).to(torch.bfloat16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a successor of this was announced, which is a package of its own
        # A scale for each row of weights: with one for all, cosines fall to .85.
        scales = {torch.nn.Linear: torch.ao.quantization.per_channel_dynamic_qconfig}
        quantised: torch.nn.Module = torch.ao.quantization.quantize_dynamic(module, scales, torch.qint8)
    return quantised


class TorchEngine:
    """The forward pass by torch."""

    def __init__(self, module: torch.nn.Module, device: str = "cpu") -> None:
        self._device = device
        # The CPU's module stays where it is: what another device computes is held to it.
        with self._errors():
            self._module = module if device == "cpu" else deepcopy(module).to(device)

    def __call__(self, batch: Batch) -> Matrix:
        import torch

        with self._errors(), torch.inference_mode():
            ids, mask = (torch.from_numpy(part).to(self._device) for part in batch)
            vectors: Matrix = self._module(ids, mask).float().cpu().numpy()
        return vectors

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (RuntimeError, AssertionError) as error:  # the second where torch was built without the device
            if self._device == "cpu":
                raise
            raise EngineUnusable(
                f"torch can't run this encoder on {self._device}",
                found=(str(error).strip() or type(error).__name__).splitlines()[0][:200],
                remedy="CUDA_VISIBLE_DEVICES= embeds on the CPU",
            ) from error


def available_device(device: str) -> str:
    """Return the device if torch has it, else `cpu`."""
    # Importing torch runs Python from C++: what a signal raised there would end the process, with nothing cleaned up.
    with postpone_signals():
        import torch

    available = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available}.get(device)
    return device if available is not None and available() else "cpu"


def load_module(spec: EncoderSpec, files: PinnedFiles, paths: Mapping[str, Path]) -> torch.nn.Module:
    """Load the transformer of these verified files with its pooling, in float32. Runs no code that came with them."""
    import torch
    from transformers import AutoConfig, AutoModel

    state = _load_tensors(paths[files.model_file])
    with silent_transformers():
        try:
            config = AutoConfig.from_pretrained(
                str(paths["config.json"].parent), trust_remote_code=False, local_files_only=True
            )
        except (OSError, ValueError, KeyError) as error:
            raise InputError(
                f"{paths['config.json']} is not the configuration of a known architecture", found=str(error)
            ) from error
        with torch.device("meta"):
            architecture = type(AutoModel.from_config(config))
        # Of the architectures some have a pooling layer, which is not read here.
        parameters = inspect.signature(architecture).parameters
        without_pooler = {"add_pooling_layer": False} if "add_pooling_layer" in parameters else {}
        model, loading = architecture.from_pretrained(
            None,
            config=config,
            state_dict=state,
            dtype=torch.float32,
            output_loading_info=True,
            **without_pooler,
        )
    wrong = [key for key in [*loading["missing_keys"], *loading["mismatched_keys"]] if not str(key).startswith(UNUSED)]
    if wrong:
        raise InputError(
            f"{paths[files.model_file]} does not hold the tensors of {files.repo}",
            expected=f"every tensor of {architecture.__name__}",
            found=f"{len(wrong)} missing or of another shape, first {wrong[0]}",
        )
    if config.hidden_size != spec.native_dims:
        raise InputError(
            f"{files.repo} has another width than {spec.name}",
            expected=f"{spec.native_dims} dimensions",
            found=str(config.hidden_size),
        )
    return add_pooling(model, spec).eval()


def add_pooling(model: torch.nn.Module, spec: EncoderSpec) -> torch.nn.Module:
    """Return a transformer that gives a vector for each text."""
    import torch

    class Pooled(torch.nn.Module):  # type: ignore[misc,unused-ignore]
        """Last hidden state, pooled and, if the encoder asks for it, brought to length 1."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model
            self.pad_id = int(model.config.pad_token_id or 0)

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            hidden = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            if spec.pooling == "cls":
                pooled = hidden[:, 0]
            else:
                weight = attention_mask.unsqueeze(-1).to(hidden.dtype)
                pooled = (hidden * weight).sum(1) / weight.sum(1)
            return torch.nn.functional.normalize(pooled, dim=1) if spec.normalise else pooled

    return Pooled()


def _load_tensors(path: Path) -> dict[str, torch.Tensor]:
    """Load the tensors of a file without running anything that it holds."""
    import torch

    if path.name.endswith(".safetensors"):
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            return dict(load_file(str(path)))
        except SafetensorError as error:
            raise InputError(f"{path} is not a safetensors file", found=str(error)) from error
    try:
        state: Any = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        raise InputError(
            f"{path} holds more than tensors, or is damaged; it was not loaded",
            expected="a state dict that torch reads with weights_only=True",
            found=(str(error).strip() or type(error).__name__).splitlines()[0],
        ) from error
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise InputError(f"{path} is not a state dict", expected="names and tensors", found=type(state).__name__)
    return state


@contextmanager
def silent_transformers() -> Iterator[None]:
    """Keep the loading messages of the library off the terminal; those that matter are raised above."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
