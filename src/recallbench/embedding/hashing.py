"""The `hash` encoder: a hashed bag of words, for dry runs. It knows nothing of meaning and needs no weights."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from recallbench.embedding.embedder import EmbeddingReport, Embeddings
from recallbench.embedding.encoders import Role
from recallbench.embedding.fingerprint import fingerprint_digest
from recallbench.key_numbers import KeyNumbers

DIMS = 256
MAX_TOKENS = 512
WORD = re.compile(r"\S+")


class HashEmbedder:
    """Each whitespace-separated word, lowercased, adds a sign to one of 256 places; the sum is brought to length 1."""

    name = "hash"
    stored_dims = DIMS
    max_tokens = MAX_TOKENS
    pack = None

    def __init__(self) -> None:
        self._seen = KeyNumbers()

    @property
    def fingerprint(self) -> Mapping[str, str]:
        return {
            "encoder": "hash",
            "method": "blake2b bag of lowercased words split at whitespace, signed, L2",
            "tokens": "words split at whitespace",
            "max_tokens": str(MAX_TOKENS),
            "stored_dims": str(DIMS),
            "dtype": "float32",
            "backend": "numpy/cpu",
        }

    @property
    def fingerprint_sha256(self) -> str:
        return fingerprint_digest(self.fingerprint)

    def ensure(self, texts: Iterable[str], role: Role, *, total: int | None = None) -> None:
        for text in texts:
            self._seen.update([hashlib.sha256(text.encode()).digest()], [len(WORD.findall(text))])

    def reuse(self, texts: Sequence[str], role: Role) -> bool:
        return False

    def lookup(self, texts: Sequence[str], role: Role) -> Embeddings:
        vectors = np.zeros((len(texts), DIMS), np.float32)
        tokens = np.zeros(len(texts), np.int32)
        cut = np.zeros(len(texts), np.int32)
        for row, text in enumerate(texts):
            words = list(WORD.finditer(text))
            seen = words[:MAX_TOKENS]
            for word in seen:
                place, sign = _place(word.group().lower())
                vectors[row, place] += sign
            length = float(np.linalg.norm(vectors[row]))
            if length == 0.0:
                # No word, or signs that cancel out: still a unit vector, so that a dry run never stumbles over it.
                vectors[row, 0], length = 1.0, 1.0
            vectors[row] /= length
            tokens[row] = len(words)
            cut[row] = seen[-1].end() if len(words) > MAX_TOKENS else len(text)
        self.ensure(texts, role)
        return Embeddings(vectors, tokens, cut)

    def embed_afresh(self, texts: Sequence[str], role: Role) -> Embeddings:
        return self.lookup(texts, role)

    def report(self) -> EmbeddingReport:
        lengths = self._seen.numbers()
        return EmbeddingReport(
            encoder="hash",
            backend="numpy/cpu",
            device="cpu",
            proof="not needed",
            worst_cosine=None,
            proof_texts=0,
            distinct=len(lengths),
            computed=len(lengths),
            reused=0,
            tokens=int(lengths.sum(dtype=np.int64)),
            truncated=int(np.count_nonzero(lengths > MAX_TOKENS)),
        )

    def close(self) -> None:
        return None


@lru_cache(maxsize=1 << 16)
def _place(word: str) -> tuple[int, float]:
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest[:4], "little") % DIMS, 1.0 if digest[4] & 1 else -1.0
