"""A model that sentence-transformers itself runs: other poolings than CLS and mean, further layers, static vectors."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recallbench.embedding import machine
from recallbench.embedding.embedder import Matrix
from recallbench.embedding.encoders import PinnedFiles, Role
from recallbench.embedding.fingerprint import FIRST_USE, PINNED, TOLD_APART
from recallbench.embedding.forms.form import EncoderRequest
from recallbench.embedding.forms.model_settings import ModelSettings
from recallbench.embedding.text_encoder import TextEncoder
from recallbench.embedding.tokens import EncoderTokenizer
from recallbench.embedding.torch_engine import available_device, silent_transformers
from recallbench.embedding.weights import FileResolver
from recallbench.errors import Blocked, InputError
from recallbench.escaping.terminal import visible
from recallbench.extras import install_command

if TYPE_CHECKING:
    from tokenizers import Tokenizer

BATCH = 32


class SentenceEncoder(TextEncoder[str]):
    """Hands texts to `SentenceTransformer.encode`, and counts their tokens with the model's own tokenizer."""

    def __init__(
        self, name: str, files: PinnedFiles, pinned: str, settings: ModelSettings, request: EncoderRequest
    ) -> None:
        super().__init__(request.progress)
        if find_spec("sentence_transformers") is None:
            raise Blocked(
                f"{name} has to be run by sentence-transformers: {settings.special}",
                expected="the package sentence-transformers",
                found="it is not installed",
                remedy=install_command("embed"),
            )
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(request.cache_dir / "torch"))
        self.name = self.title = name
        self.batch_size = BATCH
        self.one_sided = settings.passage_prefix == settings.query_prefix and not settings.routed
        self.remedy = "look at the model's files"
        self._files, self._pinned, self._settings, self._request = files, pinned, settings, request
        self._resolver = FileResolver(name, request.environ, request.cache_dir, request.progress)
        self._tokenizer: EncoderTokenizer | None = None

    @property
    def stored_dims(self) -> int:
        return int(self._facts["dims"])

    @property
    def max_tokens(self) -> int | None:
        length = self._facts["max_tokens"]
        return None if length is None else int(length)

    @property
    def backend(self) -> str:
        device = machine.likely_device(self._request.environ)
        # To ask torch takes seconds.
        return f"{machine.SENTENCE}/{device if device == 'cpu' else available_device(device)}"

    @property
    def fingerprint(self) -> Mapping[str, str]:
        settings, files = self._settings, self._files
        source = f"{files.repo}@{files.revision}"
        facts = {
            "encoder": self.title,
            **dict.fromkeys(("passage", "query", "tokenizer"), source),
            **{f"sha256 passage/{file}": digest for file, digest in sorted(self._hashes.items())},
            "modules": ", ".join(settings.modules),
            "pooling": settings.pooling,
            "normalisation": "L2" if settings.normalise else "none",
            "batch_size": str(BATCH),
            "dtype": "float32",
            "passage_prefix": visible(settings.passage_prefix),
            "query_prefix": visible(settings.query_prefix),
            "native_dims": str(self.stored_dims),
            "stored_dims": str(self.stored_dims),
            "padding": "none",
            "backend": self.backend,
            PINNED: self._pinned,
        }
        if self.max_tokens is not None:
            facts["max_tokens"] = str(self.max_tokens)
        if settings.routed:
            facts["roles"] = TOLD_APART
        if not all(files.files.values()):
            facts[FIRST_USE] = ", ".join(f"passage/{file}" for file in sorted(files.files))
        return facts

    @property
    def computation(self) -> str:
        return machine.describe_computation(self.backend)

    def tokenise(self, texts: Sequence[str], role: Role) -> Sequence[tuple[str, int, int]]:
        model, limit = self._model, self.max_tokens
        with self.stopwatch.part("tokenise"):
            if limit is None:
                return [(text, 0, len(text)) for text in texts]
            if self._tokenizer is None:
                self._tokenizer = EncoderTokenizer(_copied(model.tokenizer), limit)
            counted = self._tokenizer.tokenise(texts, self._prefix(role))
            return [(text, tokens, cut) for text, (_, tokens, cut) in zip(texts, counted, strict=True)]

    def embed(self, contents: Sequence[str], role: Role) -> Matrix:
        encode = self._model.encode_query if role == "query" else self._model.encode_document
        try:
            vectors = encode(list(contents), prompt=self._prefix(role), batch_size=BATCH, show_progress_bar=False)
        except Exception as error:  # its modules raise whatever they like
            raise InputError(
                f"sentence-transformers can't embed with {self.name}",
                found=_first_line(error),
                remedy="try SentenceTransformer(…).encode by itself",
            ) from error
        return np.asarray(vectors, np.float32)

    def close(self) -> None:
        self.__dict__.pop("_model", None)
        self._tokenizer = None

    def _prefix(self, role: Role) -> str:
        return self._settings.query_prefix if role == "query" else self._settings.passage_prefix

    @cached_property
    def _hashes(self) -> dict[str, str]:
        known = self._resolver.known_hashes(self._files)
        if known is None:
            self._resolver.verified_paths(self._files)
            known = self._resolver.known_hashes(self._files) or {}
        return known

    @cached_property
    def _facts(self) -> Mapping[str, Any]:
        """Return width and length; remembered, so that a model whose vectors are all cached need not be loaded."""
        weights = " ".join(f"{file} {digest}" for file, digest in sorted(self._hashes.items()))
        key = {"what": "width and length of a model", "files": weights, "length": str(self._request.max_tokens)}
        memo = self._request.memo
        facts = memo.recall(key)
        if facts is None:
            model = self._model
            length = model.max_seq_length
            countable = _is_known(model.tokenizer) and length is not None and math.isfinite(length)
            facts = {"dims": model.get_embedding_dimension(), "max_tokens": int(length) if countable else None}
            memo.remember(key, facts)
        return facts

    @cached_property
    def _model(self) -> Any:
        paths = self._resolver.verified_paths(self._files)
        from sentence_transformers import SentenceTransformer

        folder = _root(paths)
        self.progress.note(f"loading {self.name} with sentence-transformers, since {self._settings.special}")
        with self.stopwatch.part("load"), warnings.catch_warnings(), silent_transformers():
            warnings.simplefilter("ignore")
            try:
                model = SentenceTransformer(
                    str(folder),
                    device=self.backend.partition("/")[2],
                    local_files_only=True,
                    trust_remote_code=False,
                    model_kwargs={"dtype": "float32"},
                )
            except Exception as error:  # its modules raise whatever they like on files that don't fit
                raise InputError(
                    f"sentence-transformers can't load {self.name}",
                    found=_first_line(error),
                    remedy=f"try SentenceTransformer({str(folder)!r}) by itself",
                ) from error
            if self._request.max_tokens is not None:
                model.max_seq_length = self._request.max_tokens
        return model


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0][:300]}"


def _root(paths: Mapping[str, Path]) -> Path:
    """Return the folder that these names are relative to."""
    name, path = next(iter(paths.items()))
    return path.parents[len(Path(name).parts) - 1]


def _backend(tokenizer: Any) -> Any:
    return getattr(tokenizer, "backend_tokenizer", tokenizer)


def _is_known(tokenizer: Any) -> bool:
    """Return whether the tokens of a text can be counted as the model counts them."""
    from tokenizers import Tokenizer

    return isinstance(_backend(tokenizer), Tokenizer)


def _copied(tokenizer: Any) -> Tokenizer:
    """Return a copy: the length is set on ours."""
    from tokenizers import Tokenizer

    copy: Tokenizer = Tokenizer.from_str(_backend(tokenizer).to_str())
    return copy
