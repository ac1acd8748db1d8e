"""A transformer with its pooling as one torch module: token ids and mask in, vectors out."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallbench.embedding.encoders import EncoderSpec, PinnedFiles
from recallbench.errors import InputError

if TYPE_CHECKING:
    import torch

UNUSED = ("pooler.", "embeddings.position_ids")
"""Tensors that pooling of the last hidden state never reads; a checkpoint may carry or lack them."""


def load_module(spec: EncoderSpec, weights: PinnedFiles, paths: Mapping[str, Path]) -> torch.nn.Module:
    """The module of these verified files, in float32 and evaluation mode. Runs no code that came with them."""
    import torch
    from transformers import AutoConfig, AutoModel

    state = _tensors(paths[weights.model_file])
    with quiet():
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
        model, told = architecture.from_pretrained(
            None,
            config=config,
            state_dict=state,
            dtype=torch.float32,
            add_pooling_layer=False,
            output_loading_info=True,
        )
    wrong = [key for key in [*told["missing_keys"], *told["mismatched_keys"]] if not str(key).startswith(UNUSED)]
    if wrong:
        raise InputError(
            f"{paths[weights.model_file]} does not hold the tensors of {weights.repo}",
            expected=f"every tensor of {architecture.__name__}",
            found=f"{len(wrong)} missing or of another shape, first {wrong[0]}",
        )
    if config.hidden_size != spec.native_dims:
        raise InputError(
            f"{weights.repo} has another width than {spec.name}",
            expected=f"{spec.native_dims} dimensions",
            found=str(config.hidden_size),
        )
    return _pooled(model, spec).eval()


def _pooled(model: torch.nn.Module, spec: EncoderSpec) -> torch.nn.Module:
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


def _tensors(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a file, without running anything that it holds."""
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
def quiet() -> Iterator[None]:
    """Keep the loading chatter of the library off the terminal; what matters of it is raised above."""
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
