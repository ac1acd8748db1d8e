"""An encoder in a GGUF file, run by llama.cpp in this process."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from recallbench.embedding.embedder import Matrix
from recallbench.embedding.encoders import Role
from recallbench.embedding.spec_encoder import SpecEncoder
from recallbench.embedding.tokens import TokenIds
from recallbench.errors import InputError
from recallbench.extras import require

BACKEND = "llama.cpp/cpu"
_STEP = 256
"""llama.cpp rounds the length of its window up to a multiple of this."""


class GgufEncoder(SpecEncoder):
    """Gives llama.cpp the tokens of one text at a time, so that no vector depends on what it is embedded with."""

    backend = BACKEND

    def embed(self, contents: Sequence[TokenIds], role: Role) -> Matrix:
        vectors = np.array([self._vector(ids) for ids in contents], np.float32)
        if vectors.shape[1:] != (self.spec.native_dims,):
            raise self._unfit(f"{self.spec.native_dims} dimensions", str(vectors.shape[1:]))
        return vectors

    def close(self) -> None:
        self.__dict__.pop("_server", None)
        super().close()

    def _vector(self, ids: TokenIds) -> Any:
        answer = self._server.handle_embeddings({"input": [ids.tolist()], "model": self.name})
        try:
            vector, read = answer["data"][0]["embedding"], answer["usage"]["prompt_tokens"]
        except (KeyError, IndexError, TypeError):
            raise self._unfit("a vector", str(answer)[:200]) from None
        if read != len(ids):
            raise self._unfit(f"all {len(ids)} tokens to be read", f"{read} of them")
        return vector

    def _unfit(self, expected: str, found: str) -> InputError:
        return InputError(f"llama.cpp gave no vector of {self.title}", expected=expected, found=found)

    @cached_property
    def _server(self) -> Any:
        require(self.spec.extra, f"embedding with {self.name}")
        files = self.spec.passage
        path = self._resolver.verified_paths(files)[files.model_file]
        import xllamacpp

        self.progress.note(f"loading {files.repo} for {self.backend}")
        with self.stopwatch.part("load"):
            settings = xllamacpp.CommonParams()
            settings.model.path = str(path)
            settings.embedding = True
            settings.pooling_type = getattr(
                xllamacpp.llama_pooling_type, f"LLAMA_POOLING_TYPE_{self.spec.pooling.upper()}"
            )
            # A text is read in one go: its tokens all see each other.
            settings.n_ctx = settings.n_batch = settings.n_ubatch = -(-self.max_tokens // _STEP) * _STEP
            settings.n_parallel = 1
            settings.n_gpu_layers = 0
            cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
            settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = cores
            settings.verbosity = -1
            # It opens a port of the loopback interface, which nobody else is to use.
            settings.api_keys = [secrets.token_hex(32)]
            try:
                return xllamacpp.Server(settings)
            except Exception as error:  # its parts raise whatever they like
                raise InputError(
                    f"llama.cpp can't load {path.name}", found=(str(error).strip() or type(error).__name__)[:200]
                ) from error
