"""One's own model from wherever its files are: what it says of itself decides which engine runs it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from recallbench.embedding.encoders import EncoderSpec, PinnedFiles
from recallbench.embedding.forms.form import EncoderRequest
from recallbench.embedding.forms.model_settings import ModelSettings, read_model_settings
from recallbench.embedding.forms.sentence_encoder import SentenceEncoder
from recallbench.embedding.model_encoder import ModelEncoder
from recallbench.embedding.text_encoder import TextEncoder
from recallbench.errors import InputError, RecallBenchError, UsageError
from recallbench.extras import require


class ModelSource(ABC):
    """The files of one model."""

    name: str
    """The encoder's name in results."""
    pinned: str
    """Whether they are those of a public revision, in words."""

    @abstractmethod
    def find(self, file: str) -> Path | None:
        """Return a file by its name in the model; None where the model has none."""

    @abstractmethod
    def has(self, file: str) -> bool:
        """Whether the model has a file, which may be large."""

    @abstractmethod
    def files(self, names: Sequence[str]) -> PinnedFiles:
        """Return these files, with the hash of each that is known."""

    @abstractmethod
    def everything(self, settings: ModelSettings) -> Sequence[str]:
        """Return the names of all files that sentence-transformers may read."""


def open_model(source: ModelSource, request: EncoderRequest) -> TextEncoder[Any]:
    """Return the encoder of a model: sentence-transformers runs whatever the engines here do not."""
    require("embed", f"embedding with {source.name}")
    settings = read_model_settings(source)
    _refuse_beyond_positions(request.max_tokens, settings)
    if settings.special and request.dtype != "fp32":
        raise UsageError(
            f"{source.name} is run by sentence-transformers, in fp32 alone: {settings.special}",
            expected="--dtype with a model whose vectors are pooled from its first or all tokens",
            found=f"--dtype {request.dtype}",
            remedy="leave out --dtype",
        )
    if settings.special:
        return SentenceEncoder(source.name, source.files(source.everything(settings)), source.pinned, settings, request)
    return ModelEncoder(
        _spec(source, settings, request.max_tokens or settings.max_tokens or 0).with_dtype(request.dtype),
        cache_dir=request.cache_dir,
        backend=request.backend,
        environ=request.environ,
        progress=request.progress,
    )


def model_status(source: ModelSource, request: EncoderRequest) -> tuple[bool, str, str]:
    """Return whether a model could be used now, in words, and what to do; loads nothing."""
    try:
        open_model(source, request)
    except RecallBenchError as error:
        return False, error.brief, error.remedy
    settings = read_model_settings(source)
    treatment = f"{settings.pooling} pooling{', L2' if settings.normalise else ''}"
    length = request.max_tokens or settings.max_tokens
    by = f"; sentence-transformers runs it: {settings.special}" if settings.special else ""
    return True, f"{source.name}: {treatment}, {length or 'any number of'} tokens{by}", ""


def _refuse_beyond_positions(length: int | None, settings: ModelSettings) -> None:
    """Raise UsageError for more tokens than the model has positions for."""
    if length is not None and settings.most_tokens is not None and length > settings.most_tokens:
        raise UsageError(
            f"the model has no positions for {length} tokens",
            expected=f"--max-tokens of at most {settings.most_tokens}",
            found=f"--max-tokens {length}",
        )


def _spec(source: ModelSource, settings: ModelSettings, max_tokens: int) -> EncoderSpec:
    if not settings.dims:
        raise InputError(f"config.json of {source.name} states no hidden_size", found="no width of its vectors")
    weights = "model.safetensors" if source.has("model.safetensors") else "pytorch_model.bin"
    files, tokenizer = source.files(("config.json", weights)), source.files(("tokenizer.json",))
    pooling: Literal["cls", "mean"] = "cls" if settings.pooling == "cls" else "mean"
    return EncoderSpec(
        name=source.name,
        title=source.name,
        passage=files,
        query=files,
        tokenizer=tokenizer,
        pooling=pooling,
        normalise=settings.normalise,
        native_dims=settings.dims,
        stored_dims=settings.dims,
        max_tokens=max_tokens,
        passage_prefix=settings.passage_prefix,
        query_prefix=settings.query_prefix,
        pinned=source.pinned,
    )
