"""The static control: exhaustive cosine over an encoder that has no forward pass, beside BM25."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from recallbench.embedding.embedder import Embedder
from recallbench.embedding.registry import encoder_status, open_embedder
from recallbench.errors import Blocked
from recallbench.progress import Progress
from recallbench.stores.exact import ExactStore
from recallbench.stores.store import Hit, Item, Matrix, Query

ENCODER = "wordllama"


class StaticControl(ExactStore):
    """Embeds items and questions by itself, whatever encoder the system under test has."""

    name = "static"
    needs_vectors = False

    def __init__(self, embedder: Embedder) -> None:
        super().__init__()
        self._embedder = embedder

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """All that decides its vectors."""
        return self._embedder.fingerprint

    def prepare(self, dims: int) -> None:
        super().prepare(self._embedder.stored_dims)

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        super().ingest(items, self._embedder.lookup([item.text for item in items], "passage").vectors)

    def search_many(self, queries: Sequence[Query], k: int) -> Iterator[list[Hit]]:
        vectors = self._embedder.lookup([query.text for query in queries], "query").vectors if queries else ()
        return super().search_many([replace(q, vector=v) for q, v in zip(queries, vectors, strict=True)], k)

    def close(self) -> None:
        super().close()
        self._embedder.close()


def open_static_control(cache_dir: Path, environ: Mapping[str, str], progress: Progress) -> StaticControl:
    """Return the control; raises Blocked where its weights are not here."""
    ready, detail, remedy = encoder_status(ENCODER, environ, cache_dir)
    if not ready:
        raise Blocked(f"the static control has no {ENCODER}", found=detail, remedy=remedy)
    return StaticControl(open_embedder(ENCODER, cache_dir=cache_dir, environ=environ, progress=progress))
