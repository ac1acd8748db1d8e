"""An encoder that a spec describes: its files and its tokenizer, whatever runs its weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from recallbench.embedding import machine
from recallbench.embedding.encoders import EncoderSpec, Role
from recallbench.embedding.fingerprint import file_hashes, fingerprint
from recallbench.embedding.text_encoder import TextEncoder
from recallbench.embedding.tokens import EncoderTokenizer, TokenIds, TokenisedText
from recallbench.embedding.vector_agreement import REDUCED, TOLERATED
from recallbench.embedding.weights import FileResolver
from recallbench.extras import require
from recallbench.progress import Progress


class SpecEncoder(TextEncoder[TokenIds]):
    """Tokenises by itself, up to the length of its spec."""

    def __init__(self, spec: EncoderSpec, *, cache_dir: Path, environ: Mapping[str, str], progress: Progress) -> None:
        super().__init__(progress)
        self.spec = spec
        self.name, self.title, self.batch_size = spec.name, spec.title, spec.batch_size
        self.one_sided = spec.one_sided()
        self.tolerated = REDUCED if spec.reduced else TOLERATED
        self.remedy = f"recallbench fetch {self.name} verifies the weights"
        self._resolver = FileResolver(spec.name, environ, cache_dir, progress)
        self._tokenizer: EncoderTokenizer | None = None

    @property
    def stored_dims(self) -> int:
        return self.spec.stored_dims

    @property
    def max_tokens(self) -> int:
        return self.spec.max_tokens

    @cached_property
    def hashes(self) -> Mapping[str, str]:
        """The sha256 of every file, by `part/file`."""
        return file_hashes(self.spec, self._resolver)

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """All that decides the vectors. Settled once every text was ensured: a failed proof changes the backend."""
        return fingerprint(self.spec, self.hashes, self.backend)

    @property
    def computation(self) -> str:
        return machine.describe_computation(self.backend)

    def tokenise(self, texts: Sequence[str], role: Role) -> Sequence[TokenisedText]:
        if self._tokenizer is None:
            require(self.spec.extra, f"embedding with {self.name}")
            paths = self._resolver.verified_paths(self.spec.tokenizer)
            self._tokenizer = EncoderTokenizer(paths, self.max_tokens, special=self.spec.special_tokens)
        with self.stopwatch.part("tokenise"):
            return list(self._tokenizer.tokenise(texts, self.spec.prefix(role)))

    def close(self) -> None:
        self._tokenizer = None
