"""An encoder of known weights, pooled over its first or over all tokens: the registered ones, and folders like them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from recallbench.embedding import machine
from recallbench.embedding.embedder import Matrix, ProofStatus
from recallbench.embedding.encoders import EncoderSpec, Role
from recallbench.embedding.engines.choice import EngineChoice
from recallbench.embedding.engines.setting import Setting
from recallbench.embedding.loaded_weights import kind_of_weights
from recallbench.embedding.memo import Memo
from recallbench.embedding.options import Backend
from recallbench.embedding.spec_encoder import SpecEncoder
from recallbench.embedding.tokens import TokenIds
from recallbench.progress import Progress


class ModelEncoder(SpecEncoder):
    """Runs the weights with the engine that is chosen for this machine."""

    def __init__(
        self,
        spec: EncoderSpec,
        *,
        cache_dir: Path,
        backend: Backend,
        environ: Mapping[str, str],
        progress: Progress,
    ) -> None:
        super().__init__(spec, cache_dir=cache_dir, environ=environ, progress=progress)
        # Importing torch makes a folder for compiled kernels, by itself under the system's temporary one.
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(cache_dir / "torch"))
        if not spec.one_engine:
            self.backends = ("openvino", kind_of_weights(spec).reference_name)
            self.remedy += f"; --backend {self.backends[1]} rules out OpenVINO"
        self._preference: Backend = backend if backend in self.backends else "auto"
        self._environ = environ
        self._memo = Memo(cache_dir / "memo")
        self._engine_choice: EngineChoice | None = None

    @property
    def backend(self) -> str:
        return self._engines.backend

    @property
    def computation(self) -> str:
        libraries = machine.GRAPH if self.spec.kind == "onnx" else machine.LIBRARIES
        return machine.describe_computation(self.backend, libraries)

    @property
    def notes(self) -> Sequence[str]:
        return self._engines.notes

    @property
    def proof_status(self) -> ProofStatus:
        return self._engines.proof_status

    @property
    def worst_cosine(self) -> float | None:
        return self._engines.worst_cosine

    @property
    def proof_texts(self) -> int:
        return self._engines.proof_texts

    @property
    def setting(self) -> Setting:
        """How its engine is given texts, which moves the last digits of a vector."""
        return self._engines.settle()

    def take_setting(self, setting: Setting) -> None:
        """Give its engine texts as another process does whose vectors stand beside its own."""
        self._engines.take(setting)

    def needs_texts(self) -> bool:
        return self._engines.needs_texts()

    def prepare(self, role: Role, texts: Sequence[str]) -> None:
        self._engines.prepare(role, texts, self._token_ids)

    def embed(self, contents: Sequence[TokenIds], role: Role) -> Matrix:
        return self._engines.embed(contents, role)

    def close(self) -> None:
        if self._engine_choice is not None:
            self._engine_choice.close()
        super().close()

    def _token_ids(self, texts: Sequence[str], role: Role) -> list[TokenIds]:
        return [text.ids for text in self.tokenise(texts, role)]

    @property
    def _engines(self) -> EngineChoice:
        """The engines, with the hash of every file known and a backend chosen."""
        if self._engine_choice is None:
            self._engine_choice = EngineChoice(
                self.spec, self.hashes, self._resolver, self._memo, self._preference, self._environ, self.stopwatch
            )
        return self._engine_choice
