"""An encoder of known weights, pooled over its first or over all tokens: the registered ones, and folders like them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from recallbench.embedding import machine
from recallbench.embedding.embedder import Matrix, ProofStatus
from recallbench.embedding.encoders import EncoderSpec, Role
from recallbench.embedding.engine_choice import EngineChoice
from recallbench.embedding.fingerprint import fingerprint
from recallbench.embedding.memo import Memo
from recallbench.embedding.options import Backend
from recallbench.embedding.text_encoder import TextEncoder
from recallbench.embedding.tokens import EncoderTokenizer, TokenIds, TokenisedText
from recallbench.embedding.weights import FileResolver
from recallbench.extras import require
from recallbench.progress import Progress


class ModelEncoder(TextEncoder[TokenIds]):
    """Tokenises by itself, and runs the weights with the engine that is chosen for this machine."""

    def __init__(
        self,
        spec: EncoderSpec,
        *,
        cache_dir: Path,
        backend: Backend,
        environ: Mapping[str, str],
        progress: Progress,
    ) -> None:
        super().__init__(progress)
        # Importing torch makes a folder for compiled kernels, by itself under the system's temporary one.
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(cache_dir / "torch"))
        self.spec = spec
        self.name, self.title, self.batch_size = spec.name, spec.title, spec.batch_size
        self.one_sided = spec.one_sided()
        self.remedy = f"recallbench fetch {self.name} verifies the weights; --backend torch rules out OpenVINO"
        self._preference: Backend = backend
        self._environ = environ
        self._memo = Memo(cache_dir / "memo")
        self._resolver = FileResolver(spec.name, environ, cache_dir, progress)
        self._engine_choice: EngineChoice | None = None
        self._tokenizer: EncoderTokenizer | None = None

    @property
    def stored_dims(self) -> int:
        return self.spec.stored_dims

    @property
    def max_tokens(self) -> int:
        return self.spec.max_tokens

    @property
    def backend(self) -> str:
        return self._engines.backend

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """All that decides the vectors. Settled once every text was ensured: a failed proof changes the backend."""
        return fingerprint(self.spec, self._engines.hashes, self._engines.backend)

    @property
    def computation(self) -> str:
        return machine.describe_computation(self._engines.backend)

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

    def needs_texts(self) -> bool:
        return self._engines.needs_texts()

    def prepare(self, role: Role, texts: Sequence[str]) -> None:
        self._engines.prepare(role, texts, self._token_ids)

    def tokenise(self, texts: Sequence[str], role: Role) -> Sequence[TokenisedText]:
        if self._tokenizer is None:
            require("embed", f"embedding with {self.name}")
            self._tokenizer = EncoderTokenizer(self._resolver.verified_paths(self.spec.tokenizer), self.max_tokens)
        with self.stopwatch.part("tokenise"):
            return list(self._tokenizer.tokenise(texts, self.spec.prefix(role)))

    def embed(self, contents: Sequence[TokenIds], role: Role) -> Matrix:
        return self._engines.embed(contents, role)

    def close(self) -> None:
        if self._engine_choice is not None:
            self._engine_choice.close()
        self._tokenizer = None

    def _token_ids(self, texts: Sequence[str], role: Role) -> list[TokenIds]:
        return [text.ids for text in self.tokenise(texts, role)]

    @property
    def _engines(self) -> EngineChoice:
        """The engines, with the hash of every file known and a backend chosen."""
        if self._engine_choice is None:
            self._engine_choice = EngineChoice(
                self.spec, self._resolver, self._memo, self._preference, self._environ, self.stopwatch
            )
        return self._engine_choice
